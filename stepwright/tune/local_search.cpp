#include "stepwright/tune/local_search.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "stepwright/core/parallel.h"
#include "stepwright/tune/choices.h"
#include "stepwright/tune/confirm.h"
#include "stepwright/tune/neighbours.h"

namespace stepwright {
namespace {

/// Plans that fit by their price.
std::vector<Candidate> priced(PlayedPrices& prices, const std::vector<Plan>& plans,
                              double capacity_bytes) {
  std::vector<Candidate> candidates;
  for (const Plan& plan : prices.with_orders(plans)) {
    const Price price = prices.price(plan);
    if (price.memory_bytes > capacity_bytes) continue;
    candidates.push_back({price.seconds, plan_text(plan), plan, price});
  }
  return candidates;
}

/// Prices those that may be faster than the best by their turns, and sorts all by price.
void play_near(std::vector<Candidate>& candidates, const Evaluation& evaluation,
               PlayedPrices& prices) {
  std::vector<Candidate*> open;
  for (Candidate& candidate : candidates) {
    if (candidate.price.lower_bound_s < evaluation.best_s()) open.push_back(&candidate);
  }
  prices.play(open, evaluation.threads());
  std::ranges::sort(candidates, before);
}

/// The neighbours of a plan, and its own and their balanced splits where the space has these.
std::vector<Plan> around(PlayedPrices& prices, const Job& job, const Dimensions& space, Plan plan) {
  if (job.space.layers.empty()) plan.layers.clear();
  std::vector<Plan> plans = neighbours(job, space, plan);
  plans.push_back(plan);
  const std::size_t even = plans.size();
  for (std::size_t i = 0; i < even; ++i) {
    if (!balances(job, space, plans[i])) continue;
    if (auto split = prices.balanced(plans[i])) plans.push_back(std::move(*split));
  }
  return plans;
}

}  // namespace

void PlayedPrices::play(std::span<Candidate* const> candidates, int threads) {
  std::vector<Candidate*> fresh;
  for (Candidate* candidate : candidates) {
    if (known_.try_emplace(candidate->text).second) fresh.push_back(candidate);
  }
  const auto workers = static_cast<std::size_t>(std::max(1, threads));
  parallel_for(threads, workers, [&](std::size_t worker) {
    std::optional<Pricer> own;
    Pricer& pricer = worker == 0 ? pricer_ : own.emplace(job_, cost_, shared_);
    for (std::size_t i = worker; i < fresh.size(); i += workers) {
      fresh[i]->price = pricer.played_price(fresh[i]->plan);
    }
  });
  for (const Candidate* candidate : fresh) known_[candidate->text] = candidate->price;
  for (Candidate* candidate : candidates) {
    candidate->price = known_.at(candidate->text);
    candidate->key = candidate->price.seconds;
  }
}

std::vector<Candidate> search_locally(Evaluation& evaluation, PlayedPrices& prices,
                                      const Dimensions& space, double capacity_bytes) {
  std::vector<Candidate> near;
  double before_s = std::numeric_limits<double>::infinity();
  while (evaluation.best_s() < before_s) {
    before_s = evaluation.best_s();
    near = priced(prices, around(prices, evaluation.job(), space, evaluation.ranked().front().plan),
                  capacity_bytes);
    play_near(near, evaluation, prices);
    settle(evaluation, near, 1, prices.most_operators());
  }
  return near;
}

}  // namespace stepwright
