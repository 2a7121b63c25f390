#pragma once

#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/tune/dimensions.h"
#include "stepwright/tune/unit_search.h"

namespace stepwright::tune {

/// Returns the least key and the `goal.keep`-th key among `starts` (plans of the space) and the
/// plans near them that fit by their price. A search that knows these keys starts with nearly its
/// final limit, and prices few plans that are dropped in the end. All of these plans are in the
/// space and fit, so no plan among the best has a larger key than the last of them. The keys are
/// infinite where too few plans are near.
KnownKeys neighbour_price_keys(const plan::Job& job, const cost::CostModel& cost,
                               const SpaceDimensions& space, const std::vector<plan::Plan>& starts,
                               const SearchGoal& goal, const simulate::PriceStore& prices);

/// Returns the least price in seconds among plans that fit and are near `start`, a legal plan that
/// may lie outside of the space: its neighbours, the neighbours of the best of them, and so on for
/// a few steps. Infinity: no such plan was found.
double least_neighbour_seconds(const plan::Job& job, const cost::CostModel& cost,
                               const SpaceDimensions& space, const plan::Plan& start,
                               const simulate::Room& room);

}  // namespace stepwright::tune
