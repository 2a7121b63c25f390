#pragma once

#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/step/turn_play.h"

namespace stepwright {

/// About how long the parts of a plan's chunks take (`RoughSeconds`), by position, then chunk, and
/// a message between positions: what the order of an `auto` schedule follows from.
TurnSeconds rough_turn_seconds(const Job& job, const Plan& plan);

/// The turns of all positions for `micro_batches`: those of the plan's schedule, or those found for
/// `seconds` where it is `auto`, which holds no more activations than the first position of 1F1B.
std::vector<Turns> turns_of(const Plan& plan, std::int64_t micro_batches,
                            const TurnSeconds& seconds);
/// The same for the plan of a job, all its micro-batches.
std::vector<Turns> plan_turns(const Job& job, const Plan& plan);

}  // namespace stepwright
