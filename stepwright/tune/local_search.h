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

/// Prices the plans of a job by the turns of their schedules; each plan is priced once.
class SimulatedPrices {
 public:
  /// `most_operators`: a local search that uses these prices stops once so many operators were
  /// simulated.
  SimulatedPrices(const plan::Job& job, const cost::CostModel& cost,
                  const simulate::PriceStore& shared = {},
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
  /// Prices a plan by its closed form.
  simulate::Price price(const plan::Plan& plan) { return pricers_.front()->price(plan); }
  /// Prices several plans by their closed form on `threads` threads.
  std::vector<simulate::Price> price(std::span<const plan::Plan> plans, int threads);
  /// Prices candidates by the turns of their schedules, and updates them.
  void play(std::span<PlanCandidate* const> candidates, int threads);

  /// Returns the plan with a balanced split of its layers, where it has one
  /// (`with_balanced_split`).
  std::optional<plan::Plan> balanced(const plan::Plan& plan) {
    return with_balanced_split(work_, plan);
  }
  /// Returns the plans; a plan whose schedule lacks an order (`auto`) is replaced by plans with the
  /// orders found for it that may take less than `useful_s`.
  std::vector<plan::Plan> with_orders(const std::vector<plan::Plan>& plans, double useful_s) {
    std::vector<plan::Plan> settled;
    for (const plan::Plan& plan : plans) {
      const std::vector<plan::Plan> orders =
          simulate::found_orders(*pricers_.front(), job_, plan, useful_s);
      settled.insert(settled.end(), orders.begin(), orders.end());
    }
    return settled;
  }

 private:
  /// Calls `body(pricer, i)` for each i below `count`, on at most `threads` threads.
  template <class Body>
  void each(int threads, std::size_t count, const Body& body);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  simulate::PriceStore shared_;
  /// One pricer for each thread; at least one.
  std::deque<std::optional<simulate::Pricer>> pricers_;
  WorkFloor work_;
  std::int64_t most_operators_;
  std::map<plan::Plan, simulate::Price> known_;
};

/// Moves from the best simulated plan to a neighbour that is faster in simulation, and again until
/// no neighbour is: this corrects small errors in the ranking by closed form. Neighbours are not
/// simulated if their lower bound, or their price less `price_error` (a share of it), is above the
/// best time. Returns the neighbours of the last plan that fit by their price, sorted by price.
std::vector<PlanCandidate> search_locally(Evaluation& evaluation, SimulatedPrices& prices,
                                          const SpaceDimensions& space, const simulate::Room& room,
                                          double price_error = kPriceError);

}  // namespace stepwright::tune
