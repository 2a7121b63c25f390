#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// The largest message size, in bytes, that is accepted from DeepSpeed's logger; larger ones are
/// taken for corrupt lines.
inline constexpr double kLargestLoggedBytes = 8.0 * 1024 * 1024 * 1024 * 1024;

/// Returns the operation for a name that DeepSpeed's logger prints; nullopt: unknown.
std::optional<LogOperation> deepspeed_call(std::string_view name);

/// Makes the record of a call for which DeepSpeed's logger prints `bytes`. For gathers the logger
/// counts one rank's shard, so the payload stays unknown until the group size is known.
LogRecord deepspeed_record(LogOperation operation, std::int64_t bytes);

/// True if the milliseconds can be a latency or its sum over all calls of a run (at most three
/// years).
bool is_latency(double milliseconds);

/// Converts running totals into times of single calls, in place. If the timer of an operation is
/// never cleared, its printed times never fall, and each call took the difference from the one
/// before. Lists that fall somewhere, or have fewer than three times, stay unchanged.
void times_from_running_totals(std::vector<double>& seconds);

/// Reads what DeepSpeed's communication logger prints, line by line: verbose lines and summary
/// tables, with any other text between them (deepspeed/utils/comms_logging.py, 0.19).
class DeepSpeedLines {
 public:
  /// Reads a line; `number`: its line number. Returns an empty text if the line was understood,
  /// else why it was not: it is no line of the logger, or describes no possible call.
  std::string_view read(std::string_view text, std::int64_t number);

  /// Returns the calls of all lines: those of verbose lines, or without them the rows of the last
  /// table. A row has the mean time of its calls if the table shows that its times are not running
  /// totals. Call it once, after the last line.
  [[nodiscard]] std::vector<LogRecord> calls() &&;

  /// True if there are both verbose lines and a table, which describe the same calls.
  [[nodiscard]] bool says_twice() const { return !verbose_.empty() && !summary_.empty(); }
  /// Returns the number of verbose lines and table rows that were kept.
  [[nodiscard]] std::size_t lines() const { return verbose_.size() + summary_.size(); }
  /// Returns the number of ranks of the job, inferred from the rates of a table; 0: not known.
  [[nodiscard]] std::int64_t world() const { return world_; }

 private:
  /// A row of a summary table; its rate is the mean rate that the table prints.
  struct SummaryRow {
    LogRecord record;
    std::int64_t name = 0;   ///< Index of the operation's name, which is above the row.
    double mean_s = 0;       ///< Mean seconds of a call; 0: the table has too few digits.
    double bytes_per_s = 0;  ///< Mean of the calls' rates, in bytes per second.
  };

  std::string_view part(std::string_view text);
  void note_rank(std::string_view before);
  bool call(std::string_view text);
  bool row(std::string_view text);
  void take_rates(std::string_view rates, SummaryRow& row);
  [[nodiscard]] double spread_of(const SummaryRow& row) const;
  void time_rows();

  std::int64_t number_ = 0;
  std::int64_t rank_ = kUnknown;
  std::int64_t world_ = 0;
  bool in_table_ = false;
  bool in_stragglers_ = false;
  std::optional<LogOperation> operation_;  ///< Operation of the table rows that follow.
  std::vector<LogRecord> verbose_;
  std::vector<SummaryRow> summary_;
  std::int64_t names_ = 0;  ///< Number of operation names in the table so far.
  /// Indices into `verbose_`, by operation name.
  std::map<std::string, std::vector<std::size_t>, std::less<>> order_;
  /// Seconds of the calls of each operation name, in the order of `order_`.
  std::map<std::string, std::vector<double>, std::less<>> times_;
};

}  // namespace stepwright::logs
