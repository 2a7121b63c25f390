#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// The largest message that DeepSpeed's logger is believed.
inline constexpr double kLargestLoggedBytes = 8.0 * 1024 * 1024 * 1024 * 1024;

/// The operation of a name that DeepSpeed's logger prints; nullopt: unknown.
std::optional<LogOperation> deepspeed_call(std::string_view name);

/// A call of so many bytes as DeepSpeed's logger counts them: of gathers one rank's part, so that
/// their payload needs the size of the group.
LogRecord deepspeed_record(LogOperation operation, std::int64_t bytes);

/// True if calls can have taken so long: milliseconds, of all calls of a run together.
bool is_latency(double milliseconds);

/// Turns running totals into times: of a name whose timer is never cleared the times never fall,
/// and each is what it adds to the one before.
void difference_times(std::vector<double>& seconds);

/// Reads what DeepSpeed's communication logger prints, line by line: verbose lines and summary
/// tables, whatever stands between (deepspeed/utils/comms_logging.py, 0.19).
class DeepSpeedLines {
 public:
  /// Reads a line. Returns why it is no line of the logger, or one that says no call; empty: it was
  /// read.
  std::string_view read(std::string_view text, std::int64_t number);

  /// The calls of all lines: those of verbose lines, or without them the rows of the last table. A
  /// row has the mean time of its calls where the table shows that times are no running totals of
  /// its name. To be asked once, at the end.
  [[nodiscard]] std::vector<LogRecord> calls() &&;

  /// True if there are both lines and a table, which describe the same calls.
  [[nodiscard]] bool says_twice() const { return !verbose_.empty() && !summary_.empty(); }
  /// Lines and rows that were kept.
  [[nodiscard]] std::size_t lines() const { return verbose_.size() + summary_.size(); }
  /// Ranks of the job by a table's rates; 0: not known.
  [[nodiscard]] std::int64_t world() const { return world_; }

 private:
  /// A row of a table, with its mean rate as the table counts it.
  struct SummaryRow {
    LogRecord record;
    std::int64_t name = 0;   ///< Number of the name above it.
    double mean_s = 0;       ///< Mean seconds of a call; 0: too few digits.
    double bytes_per_s = 0;  ///< The mean of the rates of calls.
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
  std::optional<LogOperation> operation_;  ///< Operation of the rows that follow.
  std::vector<LogRecord> verbose_;
  std::vector<SummaryRow> summary_;
  std::int64_t names_ = 0;  ///< Names in the table so far.
  /// Indices into `verbose_`, by name.
  std::map<std::string, std::vector<std::size_t>, std::less<>> order_;
  /// Times of the calls, in the order of `order_`.
  std::map<std::string, std::vector<double>, std::less<>> times_;
};

}  // namespace stepwright::logs
