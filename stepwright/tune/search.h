#pragma once

#include <memory>

#include "stepwright/simulate/price/price_store.h"
#include "stepwright/tune/tune.h"
#include "stepwright/tune/unit_search.h"

namespace stepwright::tune {

/// The search of all legal plans for the best by price (or by memory), best first: the units with
/// the least floor are taken from a queue in rounds of sizes that do not depend on the threads;
/// rough ones go back into it refined, the others are searched. All of a round know the threshold
/// of its start and their own. The answer is the same on any number of threads.
class PlanSearch {
 public:
  /// All but `prices`, which keeps what was priced, must outlive it.
  PlanSearch(const plan::Job& job, const cost::CostModel& cost, const Enumeration& enumeration,
             const simulate::PriceStore& prices = {});
  ~PlanSearch();
  PlanSearch(const PlanSearch&) = delete;
  PlanSearch& operator=(const PlanSearch&) = delete;

  /// Finds the floors of its units before anything is built; `run` does where nobody did.
  void prepare();
  /// Searches; again and again, with what was learnt of the job before.
  Findings run(const Goal& goal, const Running& running);

 private:
  struct Store;
  std::unique_ptr<Store> store_;
};

}  // namespace stepwright::tune
