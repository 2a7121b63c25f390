#pragma once

#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Returns the seconds and bytes of the chunks of an `auto` plan, by their price, in the placement
/// that the plan's basis names. The memory allowed at a position is what fits, but at most the
/// activations of `micro_batches` micro-batches.
schedule::OrderBasis priced_basis(Pricer& pricer, const plan::Plan& plan,
                                  std::int64_t micro_batches);

/// Returns the plan itself if its schedule has an order. Otherwise returns plans with an order
/// found by price in each placement that can be the best, if they may take less than `useful_s`;
/// each may keep as many activations as fit, up to those of twice as many micro-batches as 1F1B
/// keeps. Empty where not even one micro-batch fits.
std::vector<plan::Plan> found_orders(Pricer& pricer, const plan::Job& job, const plan::Plan& plan,
                                     double useful_s);

/// Gives a plan whose `auto` schedule lacks an order the best one. Candidates: the named schedules
/// with one strand and at most two chunks, and orders found for this plan. Chosen is the candidate
/// that fits and whose program takes the least simulated time; where none fits, the candidate that
/// needs least memory. The job's own cost model decides, so that predicting and training find the
/// same order; a note of the job says what was found. A plan that already has an order has its
/// turns found once, and all copies of the plan share them; other plans stay as they are.
plan::PlannedJob resolve_schedule_order(plan::PlannedJob planned);

}  // namespace stepwright::simulate
