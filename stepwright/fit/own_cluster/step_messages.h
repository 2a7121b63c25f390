#pragma once

#include <functional>
#include <vector>

#include "stepwright/fit/samples/own_sample.h"
#include "stepwright/logs/log.h"
#include "stepwright/plan/plan.h"
#include "stepwright/step/program.h"

namespace stepwright::fit {

/// Calls of one operation and size, of a rank in a step on average.
struct StepMessages {
  MessageSample sample;  ///< Seconds without the wait for the last rank.
  double calls = 0;
  double waiting_s = 0;  ///< Seconds that one call waits, on average over ranks.
};

/// The timed calls of a log for which `is_chosen` holds, in the words of a plan: a call is made in
/// the plan's first group of its size. Its seconds without waiting are the shortest of all ranks'
/// times of it, the n-th of its operation and size in that group, whether the log names its group
/// or not. `steps`: how many of all ranks those calls were made in.
std::vector<StepMessages> step_messages(
    const plan::PlannedJob& planned, const step::StepProgram& program, const logs::Log& log,
    double steps, const std::function<bool(const logs::LogRecord&)>& is_chosen);

}  // namespace stepwright::fit
