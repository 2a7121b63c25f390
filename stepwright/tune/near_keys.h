#pragma once

#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/tune/dimensions.h"
#include "stepwright/tune/unit_search.h"

namespace stepwright::tune {

/// The keys of `starts`, plans of the space, and of those near them that fit by their price: their
/// least, and as many as the goal keeps. A search that knows them begins with the limit that it
/// would reach, and prices little that has no place in the end. Every plan is one of the space and
/// fits, so that none of the best has a larger key than the last of these. Nothing is known where
/// too few are near.
KnownKeys near_keys(const plan::Job& job, const cost::CostModel& cost, const Dimensions& space,
                    const std::vector<plan::Plan>& starts, const Goal& goal,
                    const simulate::PriceStore& prices);

/// The least price in seconds among plans that fit and are near `start`, a legal plan that may lie
/// outside of the space: of its neighbours, of those of the best of them, and so on, a few steps
/// far. Infinity: none was found.
double least_near_s(const plan::Job& job, const cost::CostModel& cost, const Dimensions& space,
                    const plan::Plan& start, const simulate::Room& room);

}  // namespace stepwright::tune
