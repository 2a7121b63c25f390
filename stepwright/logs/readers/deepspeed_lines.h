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
inline constexpr double kMaxLoggedMessageBytes = 8.0 * 1024 * 1024 * 1024 * 1024;

/// Returns the operation for a name that DeepSpeed's logger prints; nullopt: unknown.
std::optional<LoggedOperation> deepspeed_operation(std::string_view name);

/// Makes the record of a call for which DeepSpeed's logger prints `bytes`. For gathers the logger
/// prints the bytes of one rank's shard, so the payload stays unknown until the group size is
/// known.
LoggedCall deepspeed_call_record(LoggedOperation operation, std::int64_t bytes);

/// True if the milliseconds are plausible as a latency, or as its sum over all calls of a run (at
/// most three years).
bool is_plausible_latency(double milliseconds);

/// Converts printed times into times of single calls, in place, if they are running totals: times
/// that never fall, because the logger's timer is never cleared. Lists that fall somewhere, or have
/// fewer than three times, stay unchanged.
void running_totals_to_call_times(std::vector<double>& seconds);

/// Reads what DeepSpeed's communication logger prints, line by line: verbose lines and summary
/// tables, with any other text between them (deepspeed/utils/comms_logging.py, 0.19).
class DeepSpeedLogReader {
 public:
  /// Reads a line; `number`: its line number. Returns an empty text if the line was understood,
  /// else the reason why not: it is no line of the logger, or describes an impossible call.
  std::string_view read_deepspeed_log_line(std::string_view text, std::int64_t number);

  /// Returns the calls of all lines: those of verbose lines or, without them, the rows of the last
  /// table. A row gets the mean time of its calls if the table shows that its times are no running
  /// totals. Call it once, after the last line.
  [[nodiscard]] std::vector<LoggedCall> calls() &&;

  /// True if the text has both verbose lines and a table, which describe the same calls.
  [[nodiscard]] bool has_verbose_lines_and_summary_table() const {
    return !verbose_.empty() && !summary_.empty();
  }
  /// Returns the number of verbose lines and table rows that were read as calls.
  [[nodiscard]] std::size_t read_call_line_count() const {
    return verbose_.size() + summary_.size();
  }
  /// Returns the number of ranks of the job, inferred from the rates of a table; 0: not known.
  [[nodiscard]] std::int64_t inferred_rank_count() const { return world_; }

 private:
  /// A row of a summary table of DeepSpeed's logger.
  struct DeepSpeedSummaryRow {
    LoggedCall record;
    /// Index of the operation's name among the names that the table prints, each above its rows.
    std::int64_t name = 0;
    double mean_s = 0;       ///< Mean seconds of a call; 0: the table prints too few digits.
    double bytes_per_s = 0;  ///< Mean of the rates of the row's calls, in bytes per second.
  };

  std::string_view part(std::string_view text);
  void note_rank(std::string_view before);
  bool call(std::string_view text);
  bool row(std::string_view text);
  void take_rates(std::string_view rates, DeepSpeedSummaryRow& row);
  [[nodiscard]] double spread_of(const DeepSpeedSummaryRow& row) const;
  void time_rows();

  std::int64_t number_ = 0;
  std::int64_t rank_ = kUnknown;
  std::int64_t world_ = 0;
  bool in_table_ = false;
  bool in_stragglers_ = false;
  /// Operation to which the next rows of the summary table belong, from the line above them.
  std::optional<LoggedOperation> operation_;
  std::vector<LoggedCall> verbose_;
  std::vector<DeepSpeedSummaryRow> summary_;
  /// Number of operation names that the summary table has printed so far.
  std::int64_t names_ = 0;
  /// Calls of each operation name in the order of their lines: indices into `verbose_`.
  std::map<std::string, std::vector<std::size_t>, std::less<>> order_;
  /// Printed seconds of the calls of each operation name, in the order of `order_`.
  std::map<std::string, std::vector<double>, std::less<>> times_;
};

}  // namespace stepwright::logs
