#pragma once

#include <memory>

#include "stepwright/simulate/price/price_store.h"
#include "stepwright/tune/subspace_search.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Searches all legal plans of a job for those with the least price (or memory) by branch and
/// bound. Parts of the space wait in a queue, least lower bound first. The search takes the first
/// parts again and again, splits those whose bound is rough, and searches the others. The answer
/// does not depend on the number of threads.
class PlanSearch {
 public:
  /// All arguments except `prices` must outlive this object. `prices` stores the prices that are
  /// computed.
  PlanSearch(const plan::Job& job, const cost::CostModel& cost, const LegalPlanCounter& enumeration,
             const simulate::SharedPricerCaches& prices = {});
  ~PlanSearch();
  PlanSearch(const PlanSearch&) = delete;
  PlanSearch& operator=(const PlanSearch&) = delete;

  /// Computes the lower bounds of all parts of the space before any block is built; `run` does so
  /// if it was not done before.
  void compute_lower_bounds_of_space();
  /// Searches the space for a goal. Later calls are faster, since they use what earlier calls
  /// learnt about the job.
  SearchFindings search_space_for_goal(const SearchGoal& goal, const SearchRunOptions& running);

 private:
  struct Store;
  std::unique_ptr<Store> store_;
};

}  // namespace stepwright::tune
