#pragma once

#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Returns the seconds and bytes of each model chunk of a plan whose `auto` schedule still needs an
/// order of forward and backward passes. Activations may take all free memory of a pipeline rank,
/// but at most the bytes of `micro_batches` micro-batches.
schedule::OrderSearchBasis order_search_input_of_plan(PlanPricer& pricer, const plan::Plan& plan,
                                                      std::int64_t micro_batches);

/// Returns copies of a plan whose `auto` schedule has got an order of forward and backward passes:
/// one copy for each placement of model chunks that can be the best and may take less than
/// `useful_s` seconds. Each may keep the activations of up to twice as many micro-batches as 1F1B.
/// Empty if not even one micro-batch fits. A plan that has an order is returned alone.
std::vector<plan::Plan> plans_with_found_schedule_orders(PlanPricer& pricer, const plan::Job& job,
                                                         const plan::Plan& plan, double useful_s);

/// Gives a plan whose `auto` schedule has no order of passes yet the order that fits in memory and
/// takes the least simulated time; if none fits, the one that needs least memory. Candidates are
/// orders found for this plan, and named schedules with at most two chunks per rank and one
/// micro-batch at a time. A note of the job says what was found. If it has an order, its passes are
/// only computed once for all copies of the plan. Plans with other schedules stay.
plan::PlannedJob resolve_schedule_order(plan::PlannedJob planned);

}  // namespace stepwright::simulate
