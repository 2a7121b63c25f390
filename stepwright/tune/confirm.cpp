#include "stepwright/tune/confirm.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "stepwright/core/parallel.h"

namespace stepwright::tune {
namespace {

/// Number of plans simulated at a time, at first and at most: few at first, since one good plan
/// rules out others.
constexpr std::size_t kFirstPlans = 2;
constexpr std::size_t kMostPlans = 8;
/// Most open plans that are bounded by their turns; each takes some tenths of a millisecond.
constexpr std::size_t kMostBounded = 1200;

/// Simulates candidates in rounds whose sizes do not depend on the number of threads.
class Rounds {
 public:
  explicit Rounds(PlanEvaluator& evaluation) : evaluation_(evaluation) {}

  void add(const PlanCandidate& candidate) {
    if (evaluation_.knows(candidate)) return;
    next_.push_back(&candidate);
    if (next_.size() == size_) flush();
  }
  /// Adds a candidate if it fits. That is checked for as many candidates together as the round has
  /// free places.
  void add_if_fits(const PlanCandidate& candidate) {
    if (evaluation_.knows(candidate)) return;
    asked_.push_back(&candidate);
    if (next_.size() + asked_.size() == size_) ask();
  }
  void flush() {
    if (!asked_.empty()) ask();
    if (next_.empty()) return;
    evaluation_.simulate_candidates(next_);
    next_.clear();
    size_ = std::min(2 * size_, kMostPlans);
  }

 private:
  void ask() {
    const std::vector<const PlanCandidate*> fit = evaluation_.candidates_fitting_memory(asked_);
    asked_.clear();
    next_.insert(next_.end(), fit.begin(), fit.end());
    if (next_.size() == size_) flush();
  }

  PlanEvaluator& evaluation_;
  std::vector<const PlanCandidate*> next_;
  std::vector<const PlanCandidate*> asked_;  ///< Candidates not yet checked for whether they fit.
  std::size_t size_ = kFirstPlans;
};

/// Returns the least lower bound of the candidates for which `counts` is true.
template <class Counts>
double least_bound_s(const std::vector<PlanCandidate>& candidates, Counts&& counts) {
  double least = std::numeric_limits<double>::infinity();
  for (const PlanCandidate& candidate : candidates) {
    if (counts(candidate)) least = std::min(least, candidate.price.lower_bound_s);
  }
  return least;
}

double least_open_s(const PlanEvaluator& evaluation, const std::vector<PlanCandidate>& candidates) {
  return least_bound_s(candidates,
                       [&](const PlanCandidate& one) { return !evaluation.knows(one); });
}

void sort_by_bound(std::vector<PlanCandidate>& candidates) {
  std::ranges::stable_sort(candidates, {},
                           [](const PlanCandidate& one) { return one.price.lower_bound_s; });
}

/// Keeps the `most` candidates with the least bounds; returns the least bound of the dropped ones.
double leave_least_bounds(std::vector<PlanCandidate>& candidates, std::size_t most) {
  if (candidates.size() <= most) return std::numeric_limits<double>::infinity();
  sort_by_bound(candidates);
  const double left_s = candidates[most].price.lower_bound_s;
  candidates.resize(most);
  return left_s;
}

/// Simulates candidates whose bound is below a time, the least bound first.
void simulate_below(PlanEvaluator& evaluation, std::vector<PlanCandidate>& candidates,
                    double below_s, std::int64_t most_operators) {
  sort_by_bound(candidates);
  const std::int64_t played = evaluation.simulated_operator_count();
  Rounds rounds(evaluation);
  for (const PlanCandidate& candidate : candidates) {
    if (candidate.price.lower_bound_s >= below_s) break;
    if (evaluation.simulated_operator_count() - played >= most_operators) break;
    rounds.add(candidate);
  }
  rounds.flush();
}

}  // namespace

void reprice_candidates_by_schedule_simulation(const PlanEvaluator& evaluation,
                                               std::vector<PlanCandidate>& candidates,
                                               simulate::SimulationExtent played) {
  std::ranges::stable_sort(candidates, precedes_in_simulation_order);
  const auto workers = static_cast<std::size_t>(std::max(1, evaluation.threads()));
  parallel_for(evaluation.threads(), workers, [&](std::size_t worker) {
    simulate::PlanPricer pricer(evaluation.job(), evaluation.cost(),
                                evaluation.shared_price_caches());
    for (std::size_t i = worker; i < candidates.size(); i += workers) {
      PlanCandidate& candidate = candidates[i];
      const double bound_s = candidate.price.lower_bound_s;
      candidate.price = pricer.played_price(candidate.plan, played);
      candidate.price.lower_bound_s = std::max(candidate.price.lower_bound_s, bound_s);
      candidate.key = candidate.price.seconds;
    }
  });
  std::ranges::sort(candidates, before);
}

double simulate_until_best_are_certain(PlanEvaluator& evaluation,
                                       const std::vector<PlanCandidate>& candidates,
                                       std::size_t top, std::int64_t most_operators,
                                       double price_error) {
  Rounds rounds(evaluation);
  for (const PlanCandidate& candidate : candidates) {
    const double last_s = evaluation.step_seconds_to_beat(top);
    if (candidate.price.seconds * (1 - price_error) >= last_s) break;
    if (evaluation.simulated_operator_count() >= most_operators) break;
    if (candidate.price.lower_bound_s < last_s) rounds.add_if_fits(candidate);
  }
  rounds.flush();
  return least_open_s(evaluation, candidates);
}

double tighten_lowest_candidate_bound(PlanEvaluator& evaluation, std::vector<PlanCandidate> open,
                                      double beside_s, std::int64_t most_operators) {
  const double enough_s = evaluation.nth_best_step_s() * (1 - kMinBoundGapToRevisitPlan);
  const auto above = [&](const PlanCandidate& one) { return one.price.lower_bound_s >= enough_s; };
  const double others_s = least_bound_s(open, above);
  std::erase_if(open, [&](PlanCandidate& candidate) {
    if (above(candidate)) return true;
    return evaluation.knows(candidate);
  });
  const double left_s = leave_least_bounds(open, kMostBounded);
  reprice_candidates_by_schedule_simulation(evaluation, open, simulate::SimulationExtent::kFloors);
  // Simulating cannot raise the overall bound above the bounds of the candidates left out.
  simulate_below(evaluation, open, std::min({enough_s, left_s, beside_s}), most_operators);
  return std::min({least_open_s(evaluation, open), left_s, others_s});
}

double prove_best_by_lower_bounds(PlanEvaluator& evaluation,
                                  const std::vector<PlanCandidate>& candidates, std::size_t top) {
  std::vector<const PlanCandidate*> order;
  for (const PlanCandidate& candidate : candidates) order.push_back(&candidate);
  std::ranges::stable_sort(order, [](const PlanCandidate* a, const PlanCandidate* b) {
    return std::tie(a->price.lower_bound_s, a->plan) < std::tie(b->price.lower_bound_s, b->plan);
  });
  Rounds rounds(evaluation);
  for (const PlanCandidate* candidate : order) {
    if (candidate->price.lower_bound_s > evaluation.nth_best_step_s(top)) break;
    rounds.add(*candidate);
  }
  rounds.flush();
  return least_open_s(evaluation, candidates);
}

}  // namespace stepwright::tune
