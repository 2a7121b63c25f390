#pragma once

#include <vector>

#include "stepwright/plan/plan.h"
#include "stepwright/step/turn_play.h"

namespace stepwright {

/// The turns of all positions of a plan for `micro_batches`. Throws `Error{kInput}` where the
/// schedule is `auto` and no order is settled (`with_order`).
std::vector<Turns> plan_turns(const Plan& plan, std::int64_t micro_batches);

/// What the order of a plan takes whose schedule is `auto`, in the seconds of its basis.
double order_s(const Plan& plan, std::int64_t micro_batches);

/// No order of a plan whose schedule is `auto` is shorter, in the seconds of its basis.
double least_order_s(const Plan& plan, std::int64_t micro_batches);

}  // namespace stepwright
