#pragma once

#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright {

/// Whether a plan's schedule is `auto` without an order: it stands for the best there is.
bool lacks_order(const Plan& plan);

/// What the chunks of a plan take by their price, in the placement of `auto` with so many chunks,
/// for an order that holds `held` chunks at most.
Durations priced_durations(Pricer& pricer, const Plan& plan, std::int64_t held);

/// Plans with orders found for their priced durations that hold as much as fits, up to twice what
/// 1F1B holds, and as much as 1F1B. None where not one micro-batch fits, by the price's account.
std::vector<Plan> found_orders(Pricer& pricer, const Job& job, const Plan& plan);

/// Settles a plan that lacks an order: of the schedules with a name that have one strand and at
/// most two chunks and of orders found for this plan's durations, the one whose program takes the
/// least simulated time of those that fit; where none fits, the one that needs least memory. By the
/// job's own cost model, so that whoever predicts or trains the plan finds the same; a note of the
/// job says what was found. Other plans stay as they are.
PlannedJob with_order(PlannedJob planned);

}  // namespace stepwright
