#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stepwright/simulate/found_order.h"
#include "stepwright/simulate/price/price_store.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/balanced_split.h"
#include "stepwright/tune/confirm.h"
#include "stepwright/tune/dimensions.h"
#include "stepwright/tune/evaluation.h"

namespace stepwright::tune {

/// Prices the plans of a job by simulating all passes of their schedules; each plan once.
class SimulatedSchedulePrices {
 public:
  /// `most_operators`: number of simulated operators after which a local search with these prices
  /// stops.
  SimulatedSchedulePrices(const plan::Job& job, const cost::CostModel& cost,
                          const simulate::SharedPricerCaches& shared = {},
                          std::int64_t most_operators = std::numeric_limits<std::int64_t>::max())
      : job_(job),
        cost_(cost),
        shared_(shared),
        pricers_(1),
        work_(job, cost),
        most_operators_(most_operators) {
    pricers_.front().emplace(job, cost, shared);
  }

  [[nodiscard]] std::int64_t most_operators() const { return most_operators_; }
  /// Returns the closed-form price of a plan.
  simulate::PlanPrice closed_form_price(const plan::Plan& plan) {
    return pricers_.front()->price(plan);
  }
  /// Returns the closed-form prices of several plans, computed on `threads` threads.
  std::vector<simulate::PlanPrice> closed_form_price(std::span<const plan::Plan> plans,
                                                     int threads);
  /// Replaces the prices of candidates by those from simulating all passes of their schedules.
  void reprice_candidates_by_played_schedules(std::span<PlanCandidate* const> candidates,
                                              int threads);

  /// Returns the plan with layers split so that pipeline ranks have about equal work; nullopt if
  /// that gains nothing (`with_balanced_layers`).
  std::optional<plan::Plan> plan_with_balanced_layers(const plan::Plan& plan) {
    return with_balanced_layers(work_, plan);
  }
  /// Returns the plans, with each `auto` schedule (whose order of passes is not decided yet)
  /// replaced by the orders found for it that may take less than `useful_s` seconds.
  std::vector<plan::Plan> replace_auto_schedules_by_found_orders(
      const std::vector<plan::Plan>& plans, double useful_s) {
    std::vector<plan::Plan> settled;
    for (const plan::Plan& plan : plans) {
      const std::vector<plan::Plan> orders =
          simulate::plans_with_found_schedule_orders(*pricers_.front(), job_, plan, useful_s);
      settled.insert(settled.end(), orders.begin(), orders.end());
    }
    return settled;
  }

 private:
  /// Prices plans in parallel: calls `body(pricer, i)` for each plan index i below `count`, on at
  /// most `threads` threads.
  template <class IndexedLoopBody>
  void each(int threads, std::size_t count, const IndexedLoopBody& body);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  simulate::SharedPricerCaches shared_;
  /// Objects that compute closed-form prices, one for each thread; at least one.
  std::deque<std::optional<simulate::PlanPricer>> pricers_;
  WorkLowerBounds work_;
  std::int64_t most_operators_;
  std::map<plan::Plan, simulate::PlanPrice> known_;
};

/// Improves the best simulated plan step by step: moves to a neighbour (one choice changed) that is
/// faster in simulation until there is none. Neighbours whose lower bound, or price less the share
/// `price_error`, exceeds the best time are not simulated. Returns the last plan's neighbours that
/// fit by their price, sorted by price.
std::vector<PlanCandidate> improve_best_plan_by_local_search(
    PlanEvaluator& evaluation, SimulatedSchedulePrices& prices, const SearchSpaceDimensions& space,
    const simulate::AvailablePlanMemory& room, double price_error = kMaxClosedFormPriceError);

}  // namespace stepwright::tune
