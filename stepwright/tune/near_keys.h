#pragma once

#include <limits>

#include "stepwright/cost/cost_model.h"
#include "stepwright/tune/dimensions.h"
#include "stepwright/tune/unit_search.h"

namespace stepwright {

/// The keys of plans near `start`, a plan of the space that fits by its price: their least, and as
/// many as the goal keeps. A search that knows them begins with the limit that it would reach, and
/// prices little that has no place in the end. Every plan is one of the space and fits, so that
/// none of the best has a larger key than the last of these. Nothing is known where too few are
/// near.
KnownKeys near_keys(const Job& job, const CostModel& cost, const Dimensions& space,
                    const Plan& start, const Goal& goal);

}  // namespace stepwright
