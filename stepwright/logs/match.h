#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/logs/log.h"
#include "stepwright/step/program.h"

namespace stepwright::logs {

/// Planned and logged calls of one operation, kind of group and payload, counted over all ranks and
/// steps in the log.
struct PlannedAndLoggedCalls {
  step::ParallelismScheme scheme{};
  LoggedOperation operation{};
  /// Kind of group in the plan ("tensor"); for calls outside of all planned groups, the ranks of
  /// the group.
  std::string group;
  std::int64_t group_size = 0;
  std::int64_t payload_bytes = 0;
  /// Number of these calls that the plan predicts.
  std::int64_t predicted = 0;
  std::int64_t logged = 0;
  /// Number of these predicted calls that the log lacks.
  std::int64_t predicted_only = 0;
  std::int64_t logged_only = 0;  ///< Number of logged calls that the plan does not predict.
  bool beside = false;  ///< True if the plan lets these calls run at the same time as computation.
  /// Predicted seconds of one call that runs alone (`add_predicted_call_times`).
  double predicted_s = 0;
  /// Number of the row's logged calls whose duration is known.
  std::int64_t timed = 0;
  /// Sum of the durations of the timed calls in seconds, including the wait for other ranks.
  double seconds = 0;
  /// Sum of the transfer seconds of the timed calls. The transfer time of a call is its shortest
  /// duration on any rank, without the wait for other ranks.
  double transfer_s = 0;
  /// Seconds of the timed calls during which the rank computed nothing (exposed time).
  double exposed_s = 0;
};

/// The result of comparing a log with a plan.
struct LogPlanComparison {
  std::int64_t ranks = 0;  ///< Number of ranks that were compared.
  std::int64_t steps = 0;  ///< Number of compared steps of the rank that has most.
  /// Number of logged calls before, between and after the whole steps.
  std::int64_t outside = 0;
  std::int64_t matched = 0;         ///< Number of logged calls that the plan predicts.
  std::int64_t predicted_only = 0;  ///< Number of predicted calls that the log lacks.
  std::int64_t logged_only = 0;     ///< Number of logged calls that the plan does not predict.
  /// Logged payload bytes minus predicted ones, over the compared steps.
  std::int64_t byte_difference = 0;
  std::vector<PlannedAndLoggedCalls> rows;
  /// Differences between log and plan with their likely causes, or why the log belongs to another
  /// job; one line each.
  std::vector<std::string> differences;
  /// Remarks for users on what was assumed or left out in the comparison.
  std::vector<std::string> remarks;
};

/// Compares the logged calls of each rank, in whole steps, with the calls that a step program
/// predicts: operation, members of the group, payload and count. Steps are those that the log
/// marks, else its longest repetition. Payloads that depend on the data are matched by count alone.
/// Messages of data parallelism are also matched by the sum of their bytes, plus padding, because
/// frameworks choose bucket sizes freely. A log of another number of ranks, or of several runs, is
/// reported in the result.
LogPlanComparison compare_log_with_plan(const step::StepProgram& program,
                                        const plan::RankGrid& grid, const CommunicationLog& log);

}  // namespace stepwright::logs
