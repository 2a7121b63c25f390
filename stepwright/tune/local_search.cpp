#include "stepwright/tune/local_search.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "stepwright/core/parallel.h"
#include "stepwright/tune/neighbours.h"

namespace stepwright::tune {
namespace {

/// Returns the plans that fit by their price; a plan with an `auto` schedule is replaced by orders
/// found for it that may be faster than the best.
std::vector<PlanCandidate> priced(SimulatedSchedulePrices& prices,
                                  const std::vector<plan::Plan>& near,
                                  const PlanEvaluator& evaluation,
                                  const simulate::AvailablePlanMemory& room) {
  const std::vector<plan::Plan> plans =
      prices.replace_auto_schedules_by_found_orders(near, evaluation.nth_best_step_s());
  const std::vector<simulate::PlanPrice> found =
      prices.closed_form_price(plans, evaluation.threads());
  std::vector<PlanCandidate> candidates;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!room.fits_in_memory(found[i])) continue;
    candidates.push_back({found[i].seconds, plans[i], found[i]});
  }
  return candidates;
}

/// Prices by their turns the candidates that may be faster than the best plan, and sorts all
/// candidates by price.
void play_near(std::vector<PlanCandidate>& candidates, const PlanEvaluator& evaluation,
               SimulatedSchedulePrices& prices) {
  std::vector<PlanCandidate*> open;
  for (PlanCandidate& candidate : candidates) {
    if (candidate.price.lower_bound_s < evaluation.step_seconds_to_beat(1))
      open.push_back(&candidate);
  }
  prices.reprice_candidates_by_played_schedules(open, evaluation.threads());
  std::ranges::sort(candidates, before);
}

/// Returns the neighbours of a plan, and the balanced splits of the plan and its neighbours where
/// the space has them.
std::vector<plan::Plan> around(SimulatedSchedulePrices& prices, const plan::Job& job,
                               const SearchSpaceDimensions& space, plan::Plan plan) {
  if (job.space.layers.empty()) plan.layers.clear();
  std::vector<plan::Plan> plans = plans_differing_in_one_choice(job, space, plan);
  plans.push_back(plan);
  const std::size_t even = plans.size();
  for (std::size_t i = 0; i < even; ++i) {
    if (!search_tries_balanced_layer_split(job, space, plans[i])) continue;
    if (auto split = prices.plan_with_balanced_layers(plans[i])) plans.push_back(std::move(*split));
  }
  return plans;
}

}  // namespace

template <class IndexedLoopBody>
void SimulatedSchedulePrices::each(int threads, std::size_t count, const IndexedLoopBody& body) {
  const auto workers = static_cast<std::size_t>(std::max(1, threads));
  pricers_.resize(std::max(pricers_.size(), workers));
  parallel_for(threads, workers, [&](std::size_t worker) {
    std::optional<simulate::PlanPricer>& pricer = pricers_[worker];
    if (!pricer) pricer.emplace(job_, cost_, shared_);
    for (std::size_t i = worker; i < count; i += workers) body(*pricer, i);
  });
}

std::vector<simulate::PlanPrice> SimulatedSchedulePrices::closed_form_price(
    std::span<const plan::Plan> plans, int threads) {
  std::vector<simulate::PlanPrice> prices(plans.size());
  each(threads, plans.size(),
       [&](simulate::PlanPricer& pricer, std::size_t i) { prices[i] = pricer.price(plans[i]); });
  return prices;
}

void SimulatedSchedulePrices::reprice_candidates_by_played_schedules(
    std::span<PlanCandidate* const> candidates, int threads) {
  std::vector<PlanCandidate*> fresh;
  for (PlanCandidate* candidate : candidates) {
    if (known_.try_emplace(candidate->plan).second) fresh.push_back(candidate);
  }
  std::ranges::stable_sort(fresh, [](const PlanCandidate* a, const PlanCandidate* b) {
    return precedes_in_simulation_order(*a, *b);
  });
  each(threads, fresh.size(), [&](simulate::PlanPricer& pricer, std::size_t i) {
    fresh[i]->price = pricer.played_price(fresh[i]->plan);
  });
  for (const PlanCandidate* candidate : fresh) known_[candidate->plan] = candidate->price;
  for (PlanCandidate* candidate : candidates) {
    candidate->price = known_.at(candidate->plan);
    candidate->key = candidate->price.seconds;
  }
}

std::vector<PlanCandidate> improve_best_plan_by_local_search(
    PlanEvaluator& evaluation, SimulatedSchedulePrices& prices, const SearchSpaceDimensions& space,
    const simulate::AvailablePlanMemory& room, double price_error) {
  std::vector<PlanCandidate> near;
  double before_s = std::numeric_limits<double>::infinity();
  while (evaluation.nth_best_step_s() < before_s) {
    before_s = evaluation.nth_best_step_s();
    near = priced(prices,
                  around(prices, evaluation.job(), space, evaluation.ranked_plans().front().plan),
                  evaluation, room);
    play_near(near, evaluation, prices);
    simulate_until_best_are_certain(evaluation, near, 1, prices.most_operators(), price_error);
  }
  return near;
}

}  // namespace stepwright::tune
