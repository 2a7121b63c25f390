#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/tune/evaluation.h"

namespace stepwright::tune {

/// Number of best plans that are always confirmed, even if fewer are asked for, so that the best
/// plan does not depend on the number asked for.
inline constexpr std::size_t kMinSettledPlans = 10;

/// How far a simulated time may be below the price of its plan, as a share, where searches rely on
/// it: prices of the plans that `examples/` lead to are up to 4.4 % above their simulated times. A
/// space that is small enough to be searched exhaustively does not rely on it.
inline constexpr double kPriceError = 0.08;

/// Prices candidates again by the turns of their schedule (`Pricer::played_price`), or only bounds
/// them so (`played`), and sorts them by price.
void reprice_by_simulation(const Evaluation& evaluation, std::vector<PlanCandidate>& candidates,
                           simulate::SimulationExtent played = simulate::SimulationExtent::kAll);

/// Simulates candidates, sorted by price, until the best `top` plans are certain or
/// `most_operators` operators were simulated. They are certain when no other candidate has a lower
/// bound below the last of them, nor a price within `price_error` (a share) of it. Returns the
/// least lower bound of the candidates that were not simulated.
double settle(Evaluation& evaluation, const std::vector<PlanCandidate>& candidates, std::size_t top,
              std::int64_t most_operators, double price_error = kPriceError);

/// Raises the least lower bound of candidates that a search left open, and returns it: bounds them
/// by their turns, then simulates them, least bound first, until the bound is at most `kWantedGap`
/// below the best plan or above `beside_s` (the least bound of all other plans), or until
/// `most_operators` operators were simulated.
double narrow(Evaluation& evaluation, std::vector<PlanCandidate> open, double beside_s,
              std::int64_t most_operators);

/// Does what `settle` does, but by lower bounds alone: the best plans are then proven.
double settle_by_lower_bounds(Evaluation& evaluation, const std::vector<PlanCandidate>& candidates,
                              std::size_t top);

}  // namespace stepwright::tune
