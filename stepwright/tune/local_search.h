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

/// Prices plans of a job by their turns, each once.
class PlayedPrices {
 public:
  /// Descents that use it stop where `most_operators` were played.
  PlayedPrices(const plan::Job& job, const cost::CostModel& cost,
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
  /// Prices several plans on so many threads.
  std::vector<simulate::Price> price(std::span<const plan::Plan> plans, int threads);
  /// Prices candidates by their turns.
  void play(std::span<Candidate* const> candidates, int threads);

  /// The plan with a balanced split, where it has one (`with_balanced_split`).
  std::optional<plan::Plan> balanced(const plan::Plan& plan) {
    return with_balanced_split(work_, plan);
  }
  /// The plans, those that lack an order (`auto`) with the orders that are found for them and may
  /// take less than `useful_s`.
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
  /// Calls `body(pricer, i)` for each i below `count`, on at most so many threads.
  template <class Body>
  void each(int threads, std::size_t count, const Body& body);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  simulate::PriceStore shared_;
  std::deque<std::optional<simulate::Pricer>> pricers_;  ///< One a thread, at least one.
  WorkFloor work_;
  std::int64_t most_operators_;
  std::map<plan::Plan, simulate::Price> known_;
};

/// Goes from the best plan of a trial to a neighbour that is faster in simulation, and on until
/// none is: what the closed form ranks wrongly by a little is set right. Neighbours whose lower
/// bound, or whose price less its error, a share of it, is above the best are not simulated.
/// Returns the neighbours of the last plan that fit by their price, by price.
std::vector<Candidate> search_locally(Evaluation& evaluation, PlayedPrices& prices,
                                      const Dimensions& space, const simulate::Room& room,
                                      double price_error = kPriceError);

}  // namespace stepwright::tune
