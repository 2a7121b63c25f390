#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include "stepwright/simulate/price/pricer.h"

namespace stepwright::tune {

/// A priced plan that may be among the best.
struct PlanCandidate {
  double key = 0;  ///< The number to minimise: the price, or the memory when nothing fits.
  plan::Plan plan;
  simulate::Price price;
};

/// Orders candidates by the number that is minimised; equal ones by the plan.
inline bool before(const PlanCandidate& a, const PlanCandidate& b) {
  return std::tie(a.key, a.plan) < std::tie(b.key, b.plan);
}

/// Orders candidates for simulation: plans with the same schedule follow each other, since the
/// turns of a schedule are cached for a few schedules only.
inline bool is_simulated_before(const PlanCandidate& a, const PlanCandidate& b) {
  const auto played = [](const plan::Plan& plan) {
    return std::tie(plan.parallel.pipeline, plan.parallel.data, plan.micro_batch, plan.schedule);
  };
  return played(a.plan) < played(b.plan);
}

/// A plan that the search left out is looked at again if its lower bound is below the best plan's
/// time by more than this share.
inline constexpr double kWantedGap = 0.02;
/// A plan that the search left out is looked at again if its price is below the least price by more
/// than this share: once simulated, the best plan takes up to 0.7 % more than the least price.
inline constexpr double kWantedPriceGap = 0.013;

/// The best candidates by (key, plan), at most `most`; and every other candidate whose lower bound
/// says that it may still be faster.
class BestPlans {
 public:
  /// `all`: the list that this one will be merged into; candidates that would not enter `all` are
  /// not kept here either. Null: no such list.
  explicit BestPlans(std::size_t most, const BestPlans* all = nullptr);

  /// Keeps no candidate with a key above `key`. `best`: the least key known elsewhere. `fitting_s`:
  /// step time of a plan that is known to fit; 0: no such plan is known.
  void limit(double key, double best, double fitting_s) {
    limit_ = key;
    best_ = best;
    fitting_s_ = fitting_s;
  }
  /// Returns the largest key that is still kept.
  [[nodiscard]] double threshold() const;
  /// Returns the bound below which a plan that is not kept stays open, to be looked at again.
  [[nodiscard]] double open_below() const {
    return std::max(best_, std::min(fitting_s_, threshold())) * (1 - kWantedPriceGap);
  }
  void offer(double key, const plan::Plan& plan, const simulate::Price& price);
  /// Records a plan whose key is too large to be kept, with the bounds of its price and its
  /// simulated time.
  void leave(const plan::Plan& plan, const simulate::Price& price);
  void merge(BestPlans&& other);

  [[nodiscard]] const std::vector<PlanCandidate>& list() const { return list_; }
  /// Returns the candidates that were offered and not kept, and may be faster than the best by more
  /// than the wanted gap.
  [[nodiscard]] const std::vector<PlanCandidate>& open() const { return open_; }
  /// Least lower bound of the candidates that were offered and are neither kept nor open.
  [[nodiscard]] double dropped_bound() const { return dropped_bound_; }

 private:
  void insert(PlanCandidate&& candidate);
  void close(std::size_t most);

  std::size_t most_;
  /// The key above which nothing is kept: the limit set, or the threshold of the list that this one
  /// is merged into.
  double limit_;
  double best_;  ///< The least key offered so far.
  /// Step time of a plan that fits, where the plans with the least keys turned out not to; or 0.
  double fitting_s_;
  std::vector<PlanCandidate> list_;
  std::vector<PlanCandidate> open_;
  double dropped_bound_ = std::numeric_limits<double>::infinity();
};

}  // namespace stepwright::tune
