#pragma once

#include <cstddef>
#include <unordered_map>

#include "stepwright/cost/cost_model.h"

namespace stepwright::cost {

/// Remembers the seconds of computations: laws and trees take microseconds to evaluate, and the
/// same shapes occur in every plan. Not shared between threads.
class PriceTable {
 public:
  /// `cost` must outlive this.
  explicit PriceTable(const CostModel& cost) : cost_(cost) {}

  /// Returns `CostModel::compute_s`, from the table if the operator was priced before.
  double seconds(const step::Operator& op);
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  /// The facts on which a price depends.
  struct Key {
    step::OperatorKind kind{};
    step::Phase phase{};
    DType dtype{};
    bool routed = false, gated = false;
    double busiest = 1;
    step::Shape shape{};
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };

  const CostModel& cost_;
  std::unordered_map<Key, double, Hash> known_;
};

}  // namespace stepwright::cost
