#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stepwright/logs/log.h"
#include "stepwright/logs/planned_step.h"

namespace stepwright::logs {

/// Equal calls of a rank, counted over whole steps.
struct LoggedSize {
  std::int64_t count = 0;
  std::int64_t timed = 0;
  double seconds = 0;
  double transfer_s = 0;
  double exposed_s = 0;
};

/// The calls of one rank in whole steps.
struct LoggedSteps {
  /// Calls by kind, then by payload in bytes.
  std::map<CallKind, std::map<std::int64_t, LoggedSize>> calls;
  std::int64_t steps = 0;
  std::int64_t outside = 0;  ///< Number of calls outside the whole steps.
  std::string found;         ///< How the steps were found, as text for the user.
};

/// Finds whole steps in the calls of one rank. Steps are those that the log marks or counts.
/// Without marks they are the repeating stretch of calls, with as many periods in a step as make up
/// the planned number of calls; if nothing repeats, all calls are one step. Broadcasts, barriers
/// and similar calls at both ends belong to the start and end of the job. A group that the log does
/// not name is taken to be the planned group in which the rank makes such a call.
LoggedSteps logged_steps(const Log& log, std::span<const std::size_t> records,
                         std::span<const double> transfers, const PlannedStep& planned,
                         std::int64_t micro_batches);

}  // namespace stepwright::logs
