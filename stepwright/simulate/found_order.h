#pragma once

#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Returns the seconds and bytes of the chunks of a plan with an `auto` schedule, from which an
/// order of passes can be found. The memory allowed at each position is what fits, but at most the
/// activations of `micro_batches` micro-batches.
schedule::OrderSearchBasis order_search_input_of_plan(PlanPricer& pricer, const plan::Plan& plan,
                                                      std::int64_t micro_batches);

/// Returns plans with an order of passes found for an `auto` schedule: one for each placement of
/// chunks that can be the best and may take less than `useful_s` seconds. Each may keep the
/// activations of up to twice as many micro-batches as 1F1B. Empty if not even one micro-batch
/// fits. A plan that has an order is returned alone.
std::vector<plan::Plan> plans_with_found_schedule_orders(PlanPricer& pricer, const plan::Job& job,
                                                         const plan::Plan& plan, double useful_s);

/// Gives a plan whose `auto` schedule has no order yet the best order: of named schedules with one
/// strand and at most two chunks and of orders found for this plan, the one that fits and takes the
/// least simulated time; if none fits, the one that needs least memory. A note of the job says what
/// was found. A plan that has an order only gets its turns computed once, shared by all copies;
/// other plans stay.
plan::PlannedJob resolve_schedule_order(plan::PlannedJob planned);

}  // namespace stepwright::simulate
