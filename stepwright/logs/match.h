#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/logs/log.h"
#include "stepwright/step/program.h"

namespace stepwright::logs {

/// Planned and logged calls of one operation, kind of group and payload, counted over all ranks and
/// steps in the log.
struct MatchedCalls {
  step::Scheme scheme{};
  LogOperation operation{};
  /// Kind of group in the plan ("tensor"); for calls outside of all planned groups, their ranks.
  std::string group;
  std::int64_t group_size = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t predicted = 0;  ///< Number of calls that the plan predicts.
  std::int64_t logged = 0;
  std::int64_t predicted_only = 0;  ///< Number of predicted calls that the log lacks.
  std::int64_t logged_only = 0;     ///< Number of logged calls that the plan does not predict.
  bool beside = false;  ///< True if the plan lets the calls run at the same time as computation.
  /// Predicted seconds of one call without other work (`add_predicted_times`).
  double predicted_s = 0;
  std::int64_t timed = 0;  ///< Number of logged calls whose duration is known.
  /// Durations of the timed calls, summed, including the wait for other ranks.
  double seconds = 0;
  /// Transfer seconds, summed over the timed calls: for each call, the shortest duration of any
  /// rank, which excludes the wait for other ranks.
  double transfer_s = 0;
  double exposed_s = 0;  ///< Seconds of the timed calls during which the rank computed nothing.
};

/// The result of comparing a log with a plan.
struct LogComparison {
  std::int64_t ranks = 0;           ///< Number of ranks that were compared.
  std::int64_t steps = 0;           ///< Number of compared steps of the rank with the most.
  std::int64_t outside = 0;         ///< Number of calls before, between and after whole steps.
  std::int64_t matched = 0;         ///< Number of logged calls that the plan predicts.
  std::int64_t predicted_only = 0;  ///< Number of predicted calls that the log lacks.
  std::int64_t logged_only = 0;     ///< Number of logged calls that the plan does not predict.
  /// Logged minus predicted payload bytes, over the compared steps.
  std::int64_t byte_difference = 0;
  std::vector<MatchedCalls> rows;
  /// Differences with their likely causes, or why the log is of another job.
  std::vector<std::string> differences;
  /// Remarks on what was assumed or left out; they are no differences.
  std::vector<std::string> remarks;
};

/// Compares the calls of each rank of a log, in whole steps, with the calls that the program
/// predicts for it: operation, members of the group, payload and count. Steps are those that the
/// log marks, else its longest repetition. Payloads that depend on the data
/// (`data_dependent_calls`) are matched by count alone. Messages of data parallelism are also
/// matched by the sum of their bytes, plus padding, because frameworks choose bucket sizes freely.
/// A log of another number of ranks, or of several runs, is reported as such.
LogComparison compare_log(const step::StepProgram& program, const plan::Grid& grid, const Log& log);

}  // namespace stepwright::logs
