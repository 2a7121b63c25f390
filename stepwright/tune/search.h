#pragma once

#include <memory>

#include "stepwright/simulate/price/price_store.h"
#include "stepwright/tune/tune.h"
#include "stepwright/tune/unit_search.h"

namespace stepwright::tune {

/// Searches all legal plans for the best by price (or by memory). Units wait in a queue by their
/// floor; each round takes the units with the least floors; the number of units in a round does not
/// depend on the number of threads. Rough units go back into the queue refined; refined units are
/// searched. Each unit of a round is searched with the threshold at the start of the round and its
/// own. The answer is the same on any number of threads.
class PlanSearch {
 public:
  /// All arguments but `prices` must outlive it; `prices` keeps the prices that were computed.
  PlanSearch(const plan::Job& job, const cost::CostModel& cost, const Enumeration& enumeration,
             const simulate::PriceStore& prices = {});
  ~PlanSearch();
  PlanSearch(const PlanSearch&) = delete;
  PlanSearch& operator=(const PlanSearch&) = delete;

  /// Computes the floors of the units before any block is built; `run` calls it if nobody did.
  void prepare();
  /// Searches for a goal. May be called again: later runs use what earlier runs learnt of the job.
  SearchFindings run(const SearchGoal& goal, const SearchRunOptions& running);

 private:
  struct Store;
  std::unique_ptr<Store> store_;
};

}  // namespace stepwright::tune
