#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "stepwright/simulate/price/pricer.h"

namespace stepwright {

/// A priced plan that may be among the best.
struct Candidate {
  double key = 0;  ///< What is minimised: the price, or the memory when nothing fits.
  std::string text;
  Plan plan;
  Price price;
};

/// The order of candidates: by what is minimised, ties by text.
inline bool before(const Candidate& a, const Candidate& b) {
  return std::tie(a.key, a.text) < std::tie(b.key, b.text);
}

/// The best candidates by (key, text), at most `most`.
class BestPlans {
 public:
  explicit BestPlans(std::size_t most) : most_(most) {}

  /// No candidate with a key above this is kept.
  [[nodiscard]] double threshold() const {
    return list_.size() < most_ ? std::numeric_limits<double>::infinity() : list_.back().key;
  }
  void offer(double key, const Plan& plan, const Price& price);
  void merge(BestPlans&& other);

  [[nodiscard]] const std::vector<Candidate>& list() const { return list_; }
  /// Least lower bound of all that were offered and not kept.
  [[nodiscard]] double dropped_bound() const { return dropped_bound_; }

 private:
  void insert(Candidate&& candidate);

  std::size_t most_;
  std::vector<Candidate> list_;
  double dropped_bound_ = std::numeric_limits<double>::infinity();
};

}  // namespace stepwright
