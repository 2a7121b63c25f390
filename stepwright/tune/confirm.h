#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/tune/evaluation.h"

namespace stepwright::tune {

/// Places of the list of plans that are settled whatever number is asked for: the best plan does
/// not depend on it.
inline constexpr std::size_t kSettled = 10;

/// How far a simulated time may be below the price of its plan, where searches rely on it: prices
/// of the plans that `examples/` lead to are up to 4.4 % above their simulated times. Where a space
/// is small enough to go through, nothing relies on it.
inline constexpr double kPriceError = 0.08;

/// Prices candidates anew by their turns (`Pricer::played_price`), or only bounds them by these,
/// and sorts them by price.
void play_prices(const Evaluation& evaluation, std::vector<Candidate>& candidates,
                 simulate::Played played = simulate::Played::kAll);

/// Simulates candidates, sorted by price, until the first `top` are settled: no other has a lower
/// bound below the last of them, nor a price that its error, a share of it, could bring there; or
/// until `most_operators` were played. Returns the least lower bound of those not simulated.
double settle(Evaluation& evaluation, const std::vector<Candidate>& candidates, std::size_t top,
              std::int64_t most_operators, double price_error = kPriceError);

/// Raises the least lower bound of candidates that a search left open: they are bounded by their
/// turns, and simulated from the least bound on until it is `kWantedGap` below the best plan or
/// above `beside_s`, the least bound of all other plans, or until `most_operators` were played.
/// Returns it.
double narrow(Evaluation& evaluation, std::vector<Candidate> open, double beside_s,
              std::int64_t most_operators);

/// Settles as `settle` does by lower bounds alone: what is settled is proven.
double settle_proven(Evaluation& evaluation, const std::vector<Candidate>& candidates,
                     std::size_t top);

}  // namespace stepwright::tune
