#include "stepwright/tune/local_search.h"

#include <algorithm>
#include <limits>

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

/// Prices those that may be faster than `best_s` by their turns, and sorts all by price.
void play_near(std::vector<Candidate>& candidates, double best_s, PlayedPrices& prices) {
  for (Candidate& candidate : candidates) {
    if (candidate.price.lower_bound_s >= best_s) continue;
    candidate.price = prices.played(candidate.plan, candidate.text);
    candidate.key = candidate.price.seconds;
  }
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

std::vector<Candidate> search_locally(Evaluation& evaluation, PlayedPrices& prices,
                                      const Dimensions& space, double capacity_bytes) {
  std::vector<Candidate> near;
  double before_s = std::numeric_limits<double>::infinity();
  while (evaluation.best_s() < before_s) {
    before_s = evaluation.best_s();
    near = priced(prices, around(prices, evaluation.job(), space, evaluation.ranked().front().plan),
                  capacity_bytes);
    play_near(near, evaluation.best_s(), prices);
    settle(evaluation, near, 1, prices.most_operators());
  }
  return near;
}

}  // namespace stepwright
