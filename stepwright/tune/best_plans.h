#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include "stepwright/simulate/price/pricer.h"

namespace stepwright::tune {

/// A plan with its closed-form price that may be among the best plans of a search.
struct PlanCandidate {
  /// The number that the search minimises: the price in seconds, or the memory in bytes if no plan
  /// fits.
  double key = 0;
  plan::Plan plan;
  simulate::PlanPrice price;
};

/// True if candidate plan `a` comes before `b` in the ranking: smaller key (price, or memory)
/// first, equal keys by plan.
inline bool before(const PlanCandidate& a, const PlanCandidate& b) {
  return std::tie(a.key, a.plan) < std::tie(b.key, b.plan);
}

/// True if candidate `a` should be simulated before `b`: candidates with equal schedules follow
/// each other, since only a few played schedules are cached.
inline bool precedes_in_simulation_order(const PlanCandidate& a, const PlanCandidate& b) {
  const auto played = [](const plan::Plan& plan) {
    return std::tie(plan.parallel.pipeline, plan.parallel.data, plan.micro_batch, plan.schedule);
  };
  return played(a.plan) < played(b.plan);
}

/// A plan that the search left out unsimulated is simulated after all only if the lower bound of
/// its step time is below the best plan's step time by at least this share.
inline constexpr double kMinBoundGapToRevisitPlan = 0.02;
/// A plan that the search leaves out is remembered for a later simulation only if the lower bound
/// of its step time is below the least price found by at least this share. Once simulated, the best
/// plan takes up to 0.7 % more than the least price.
inline constexpr double kMinPriceGapToRevisitPlan = 0.013;

/// The `most` candidates with the least keys (price, or memory), and the other candidates that may
/// still be faster according to their lower bound of the simulated time.
class BestPlanCandidates {
 public:
  /// `all`: the list into which this one will be merged; candidates that would not enter `all` are
  /// not kept here either. Null: no such list.
  explicit BestPlanCandidates(std::size_t most, const BestPlanCandidates* all = nullptr);

  /// Sets the limits of the list: no candidate with a key (price or memory) above `key` is kept.
  /// `best`: the least key known elsewhere. `fitting_s`: step time of a plan that is known to fit;
  /// 0: no such plan is known.
  void limit_keys_of_kept_candidates(double key, double best, double fitting_s) {
    limit_ = key;
    best_ = best;
    fitting_s_ = fitting_s;
  }
  /// Returns the largest key (price, or memory) with which a candidate is still kept.
  [[nodiscard]] double largest_key_of_kept_candidates() const;
  /// Returns the lower bound of the simulated time, in seconds, below which a plan that is not kept
  /// is remembered, so that it is looked at again.
  [[nodiscard]] double lower_bound_to_reconsider_plan_s() const {
    return std::max(best_, std::min(fitting_s_, largest_key_of_kept_candidates())) *
           (1 - kMinPriceGapToRevisitPlan);
  }
  void offer(double key, const plan::Plan& plan, const simulate::PlanPrice& price);
  /// Records a plan whose key is too large to be kept, with the bounds of its price and its
  /// simulated time.
  void record_left_out_plan(const plan::Plan& plan, const simulate::PlanPrice& price);
  void merge(BestPlanCandidates&& other);

  [[nodiscard]] const std::vector<PlanCandidate>& list() const { return list_; }
  /// Returns the candidates that were offered and not kept, but may still be faster than the best
  /// plan according to their lower bound.
  [[nodiscard]] const std::vector<PlanCandidate>& undecided_candidates() const { return open_; }
  /// Returns the least lower bound of the simulated time, in seconds, of all candidates that were
  /// offered and then dropped for good.
  [[nodiscard]] double min_lower_bound_of_dropped_plans() const { return dropped_bound_; }

 private:
  void insert(PlanCandidate&& candidate);
  void close(std::size_t most);

  std::size_t most_;
  /// The key (price or memory) above which no candidate is kept: the limit that was set, or the
  /// threshold of the list into which this one will be merged.
  double limit_;
  double best_;  ///< Least key (price or memory) of all plans offered so far.
  /// Step time in seconds of a plan that is known to fit, if the plans with the least keys did not
  /// fit; else 0.
  double fitting_s_;
  std::vector<PlanCandidate> list_;
  std::vector<PlanCandidate> open_;
  double dropped_bound_ = std::numeric_limits<double>::infinity();
};

}  // namespace stepwright::tune
