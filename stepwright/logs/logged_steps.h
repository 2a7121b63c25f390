#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stepwright/logs/log.h"
#include "stepwright/logs/planned_step.h"

namespace stepwright::logs {

/// Equal calls of a rank in some steps.
struct LoggedSize {
  std::int64_t count = 0;
  std::int64_t timed = 0;
  double seconds = 0;
  double transfer_s = 0;
  double exposed_s = 0;
};

/// The messages of one rank in whole steps.
struct LoggedSteps {
  /// Calls of each kind, by payload.
  std::map<CallKind, std::map<std::int64_t, LoggedSize>> calls;
  std::int64_t steps = 0;
  std::int64_t outside = 0;  ///< Calls before and after them.
  std::string found;         ///< How the steps were found, for people.
};

/// The steps in the calls of one rank, in order: those that the log marks or counts; else the
/// stretch that repeats, as many of its periods as make the planned number of calls; else all calls
/// as one step. Broadcasts, barriers and the like at both ends belong to the start and end of a
/// job. A group that the log does not name is the planned one in which the rank makes such a call.
LoggedSteps logged_steps(const Log& log, std::span<const std::size_t> records,
                         std::span<const double> transfers, const PlannedStep& planned,
                         std::int64_t micro_batches);

}  // namespace stepwright::logs
