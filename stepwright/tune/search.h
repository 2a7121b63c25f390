#pragma once

#include <vector>

#include "stepwright/tune/unit_search.h"

namespace stepwright {

/// Searches all legal plans for the best by price (or by memory). Units are taken by their floor,
/// in rounds of sizes that do not depend on the threads; the units of a round know the threshold of
/// its start and their own. The answer is the same on any number of threads.
Findings search_plans(const Job& job, const CostModel& cost, const Census& census, const Goal& goal,
                      int threads);

}  // namespace stepwright
