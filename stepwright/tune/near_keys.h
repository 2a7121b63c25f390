#pragma once

#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/tune/dimensions.h"
#include "stepwright/tune/subspace_search.h"

namespace stepwright::tune {

/// Returns limits with which a search begins: the least and the `goal.keep`-th least key (price, or
/// memory) among the plans `starts` of the space and fitting plans near them. A search that knows
/// these keys prices few plans in vain. Infinite if too few plans are near.
KnownPlanKeys min_keys_of_neighbour_plans(const plan::Job& job, const cost::CostModel& cost,
                                          const SearchSpaceDimensions& space,
                                          const std::vector<plan::Plan>& starts,
                                          const SearchGoal& goal,
                                          const simulate::SharedPricerCaches& prices);

/// Returns the least closed-form step time, in seconds, of plans that fit and are near `start`, a
/// legal plan that may lie outside of the space: its neighbours, then the neighbours of the best
/// plan so far, a few times. Infinity: no such plan was found.
double min_step_seconds_of_neighbour_plans(const plan::Job& job, const cost::CostModel& cost,
                                           const SearchSpaceDimensions& space,
                                           const plan::Plan& start,
                                           const simulate::AvailablePlanMemory& room);

}  // namespace stepwright::tune
