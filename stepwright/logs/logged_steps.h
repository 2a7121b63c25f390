#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stepwright/logs/log.h"
#include "stepwright/logs/planned_step.h"

namespace stepwright::logs {

/// Number and times of the logged calls of one rank that have equal operation, group and payload,
/// over all whole steps.
struct LoggedCallTotals {
  std::int64_t count = 0;
  std::int64_t timed = 0;
  double seconds = 0;
  double transfer_s = 0;
  double exposed_s = 0;
};

/// The logged calls of one rank, cut into whole training steps.
struct LoggedSteps {
  /// Number and times of the rank's calls, by operation and group, then by payload in bytes.
  std::map<GroupCallKind, std::map<std::int64_t, LoggedCallTotals>> calls;
  std::int64_t steps = 0;
  std::int64_t outside = 0;  ///< Number of calls before, between and after the whole steps.
  /// How the steps were found, as text for users: by marks in the log, a stated count, or a
  /// repetition of calls.
  std::string found;
};

/// Cuts the calls of one rank into whole training steps. Uses the steps that the log marks or
/// counts; otherwise the longest repetition of a sequence of calls, where as many repeats make a
/// step as give the planned number of calls; if nothing repeats, all calls are one step.
/// Broadcasts, barriers and similar calls at both ends belong to the start and end of the job. A
/// group that the log does not name is taken to be the planned group in which the rank makes such a
/// call.
LoggedSteps cut_into_logged_steps(const CommunicationLog& log, std::span<const std::size_t> records,
                                  std::span<const double> transfers,
                                  const PlannedStepCalls& planned, std::int64_t micro_batches);

}  // namespace stepwright::logs
