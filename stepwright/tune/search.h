#pragma once

#include <vector>

#include "stepwright/simulate/price/price_store.h"
#include "stepwright/tune/tune.h"
#include "stepwright/tune/unit_search.h"

namespace stepwright {

/// Searches all legal plans for the best by price (or by memory), best first: the units with the
/// least floor are taken from a queue in rounds of sizes that do not depend on the threads; rough
/// ones go back into it refined, the others are searched. All of a round know the threshold of its
/// start and their own. The answer is the same on any number of threads. `prices` keeps what was
/// priced.
Findings search_plans(const Job& job, const CostModel& cost, const Enumeration& enumeration,
                      const Goal& goal, const Running& running, const PriceStore& prices = {});

}  // namespace stepwright
