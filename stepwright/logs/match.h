#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/logs/log.h"
#include "stepwright/step/program.h"

namespace stepwright::logs {

/// Equal calls of a step as the plan says them beside those of a log: over all ranks and steps that
/// the log holds.
struct MatchedCalls {
  step::Scheme scheme{};
  LogOperation operation{};
  std::string group;  ///< Kind of group; of calls outside of all groups their ranks.
  std::int64_t group_size = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t predicted = 0;  ///< Number of predicted calls.
  std::int64_t logged = 0;
  std::int64_t predicted_only = 0;  ///< Predicted calls that are not logged.
  std::int64_t logged_only = 0;     ///< Logged calls that are not predicted.
  bool beside = false;              ///< True if the plan lets the calls run beside computation.
  double predicted_s = 0;           ///< Predicted seconds of a call alone (`add_predicted_times`).
  std::int64_t timed = 0;           ///< Logged calls that say how long they took.
  double seconds = 0;               ///< Seconds of the timed calls, with the wait for others.
  /// Seconds of the timed calls: the shortest of all ranks' times of a call.
  double transfer_s = 0;
  double exposed_s = 0;  ///< Seconds of the timed calls beside no computation.
};

/// A log beside a plan.
struct LogComparison {
  std::int64_t ranks = 0;            ///< Number of compared ranks.
  std::int64_t steps = 0;            ///< Compared, of the rank with most.
  std::int64_t outside = 0;          ///< Calls before, between and after whole steps.
  std::int64_t matched = 0;          ///< Logged calls that are predicted.
  std::int64_t predicted_only = 0;   ///< Predicted calls that are not logged.
  std::int64_t logged_only = 0;      ///< Logged calls that are not predicted.
  std::int64_t byte_difference = 0;  ///< Payloads logged less predicted, of the compared steps.
  std::vector<MatchedCalls> rows;
  std::vector<std::string> differences;  ///< Why the log is another's, and what differs; explained.
  /// Remarks on what was assumed or left out; no differences.
  std::vector<std::string> remarks;
};

/// Compares what each rank of a log sent, in whole steps, with what the program says that it sends:
/// operation, members of the group, payload and count. Steps are those that the log marks, else its
/// longest repetition. Payloads that are data (`data_calls`) are matched by count; messages of data
/// parallelism also by the sum of their bytes, since frameworks cut buckets where they like, and
/// with what padding adds. A log of another number of ranks, or of several runs, is named as such.
LogComparison compare_log(const step::StepProgram& program, const plan::Grid& grid, const Log& log);

}  // namespace stepwright::logs
