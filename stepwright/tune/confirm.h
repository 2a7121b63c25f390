#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/tune/evaluation.h"

namespace stepwright::tune {

/// Number of best plans that are always confirmed by simulation, even if the user asks for fewer,
/// so that the best plan does not depend on how many are asked for.
inline constexpr std::size_t kMinPlansConfirmedBySimulation = 10;

/// Largest share by which searches assume that a plan's simulated step time is below its step time
/// in closed form (the largest seen on the plans of `examples/` is 4.4 %). Searches that try every
/// plan do not rely on it.
inline constexpr double kMaxClosedFormPriceError = 0.08;

/// Replaces the closed-form prices of candidate plans by those from simulating all passes of their
/// pipeline schedule, and sorts the candidates by price. `played`: whether prices or only their
/// lower bounds are needed.
void reprice_candidates_by_schedule_simulation(
    const PlanEvaluator& evaluation, std::vector<PlanCandidate>& candidates,
    simulate::SimulationExtent played = simulate::SimulationExtent::kAll);

/// Simulates candidates (sorted by price) until the best `top` plans are certain: no other
/// candidate has a lower bound below the last of these plans, nor a price within the share
/// `price_error` of it. Stops early after `most_operators` simulated operators. Returns the least
/// lower bound of the candidates not simulated.
double simulate_until_best_are_certain(PlanEvaluator& evaluation,
                                       const std::vector<PlanCandidate>& candidates,
                                       std::size_t top, std::int64_t most_operators,
                                       double price_error = kMaxClosedFormPriceError);

/// Raises the least lower bound of the step time, in seconds, of the candidates that a search left
/// open, and returns it. Simulates the passes of their schedules, then whole plans, least bounds
/// first, until the bound is at most `kMinBoundGapToRevisitPlan` below the best plan, or above
/// `beside_s` (the least bound of all other plans), or `most_operators` operators were simulated.
double tighten_lowest_candidate_bound(PlanEvaluator& evaluation, std::vector<PlanCandidate> open,
                                      double beside_s, std::int64_t most_operators);

/// Simulates candidates until lower bounds alone prove the best `top` plans optimal, without
/// relying on prices. Returns the least lower bound of the candidates that were not simulated.
double prove_best_by_lower_bounds(PlanEvaluator& evaluation,
                                  const std::vector<PlanCandidate>& candidates, std::size_t top);

}  // namespace stepwright::tune
