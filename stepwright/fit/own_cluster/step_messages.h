#pragma once

#include <functional>
#include <vector>

#include "stepwright/fit/samples/own_sample.h"
#include "stepwright/logs/log.h"
#include "stepwright/plan/plan.h"
#include "stepwright/step/program.h"

namespace stepwright::fit {

/// The calls of one operation and size that a rank makes in a step, on average.
struct StepMessageCalls {
  /// A message of this operation and size, with its mean seconds without the wait for the last
  /// rank.
  OwnCollectiveSample sample;
  double calls = 0;
  double waiting_s = 0;  ///< Seconds that one call waits for other ranks, as a mean over ranks.
};

/// Returns the timed calls of a log for which `is_chosen` is true, assigned to messages of a plan:
/// a call counts for the plan's first group of its size. Seconds without waiting are the shortest
/// over all ranks of one call (the n-th of its operation and size in the group). `steps`: number of
/// steps, over all ranks, in which these calls were made.
std::vector<StepMessageCalls> logged_calls_of_plan_messages(
    const plan::PlannedJob& planned, const step::StepProgram& program,
    const logs::CommunicationLog& log, double steps,
    const std::function<bool(const logs::LoggedCall&)>& is_chosen);

}  // namespace stepwright::fit
