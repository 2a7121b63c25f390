#pragma once

#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// The seconds and bytes of the chunks of an `auto` plan by their price, in the placement that its
/// basis names, with room for as much as fits, up to what so many micro-batches keep at most.
schedule::OrderBasis priced_basis(Pricer& pricer, const plan::Plan& plan,
                                  std::int64_t micro_batches);

/// The plan itself where it is settled, else plans with orders found by their price in each
/// placement that can be the best, with room for as much as fits, up to twice as many micro-batches
/// as 1F1B holds, where they may take less than `useful_s`. None where not one micro-batch fits.
std::vector<plan::Plan> found_orders(Pricer& pricer, const plan::Job& job, const plan::Plan& plan,
                                     double useful_s);

/// Settles a plan that lacks an order: of the schedules with a name that have one strand and at
/// most two chunks and of orders found for this plan, the one whose program takes the
/// least simulated time of those that fit; where none fits, the one that needs least memory. By the
/// job's own cost model, so that whoever predicts or trains the plan finds the same; a note of the
/// job says what was found. A plan that has an order has its turns found once, for all who ask for
/// them; other plans stay as they are.
plan::PlannedJob with_order(plan::PlannedJob planned);

}  // namespace stepwright::simulate
