#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include "stepwright/simulate/price/pricer.h"

namespace stepwright::tune {

/// A priced plan that may be among the best.
struct Candidate {
  double key = 0;  ///< The number to minimise: the price, or the memory when nothing fits.
  plan::Plan plan;
  simulate::Price price;
};

/// The order of candidates: by what is minimised, ties by the plan.
inline bool before(const Candidate& a, const Candidate& b) {
  return std::tie(a.key, a.plan) < std::tie(b.key, b.plan);
}

/// The order in which candidates are played: turns are kept for some schedules only, so that plans
/// that play the same come one after the other.
inline bool plays_before(const Candidate& a, const Candidate& b) {
  const auto played = [](const plan::Plan& plan) {
    return std::tie(plan.parallel.pipeline, plan.parallel.data, plan.micro_batch, plan.schedule);
  };
  return played(a.plan) < played(b.plan);
}

/// The share of the best plan's time by which one that was left out may be faster, by its bound,
/// without being looked at again.
inline constexpr double kWantedGap = 0.02;
/// The share of the least price by which a plan that was left out may be faster, without being
/// looked at again: simulated, the best plan takes up to 0.7 % more than the least price.
inline constexpr double kWantedPriceGap = 0.013;

/// The best candidates by (key, plan), at most `most`; of all others what may be faster all the
/// same.
class BestPlans {
 public:
  /// `all`: the list that this one will be merged into; what has no place there has none here.
  explicit BestPlans(std::size_t most, const BestPlans* all = nullptr);

  /// Keeps nothing with a key above `key`; `best` is the least key that is known elsewhere. A plan
  /// that fits is known to take `fitting_s`; 0: none is.
  void limit(double key, double best, double fitting_s) {
    limit_ = key;
    best_ = best;
    fitting_s_ = fitting_s;
  }
  /// No candidate with a key above this is kept.
  [[nodiscard]] double threshold() const;
  /// A plan with a lower bound below this is looked at again, though it is not kept.
  [[nodiscard]] double open_below() const {
    return std::max(best_, std::min(fitting_s_, threshold())) * (1 - kWantedPriceGap);
  }
  void offer(double key, const plan::Plan& plan, const simulate::Price& price);
  /// A plan that is not wanted by its key, and what bounds its price and its simulated time.
  void leave(const plan::Plan& plan, const simulate::Price& price);
  void merge(BestPlans&& other);

  [[nodiscard]] const std::vector<Candidate>& list() const { return list_; }
  /// The candidates that were offered and not kept, and may be faster than the best by more than
  /// the wanted gap.
  [[nodiscard]] const std::vector<Candidate>& open() const { return open_; }
  /// Least lower bound of all others that were offered and not kept.
  [[nodiscard]] double dropped_bound() const { return dropped_bound_; }

 private:
  void insert(Candidate&& candidate);
  void close(std::size_t most);

  std::size_t most_;
  double limit_;  ///< That, or the threshold of the list that this one is merged into.
  double best_;   ///< The least key offered.
  /// Step time of a plan that fits, where the plans with the least keys turned out not to; or 0.
  double fitting_s_;
  std::vector<Candidate> list_;
  std::vector<Candidate> open_;
  double dropped_bound_ = std::numeric_limits<double>::infinity();
};

}  // namespace stepwright::tune
