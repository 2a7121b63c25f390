#pragma once

#include <cstddef>
#include <unordered_map>

#include "stepwright/cost/cost_model.h"

namespace stepwright::cost {

/// Cache of computed operator times, since the same shapes occur in every plan and evaluating a
/// fitted law takes microseconds. For one thread only.
class OperatorTimeCache {
 public:
  /// Keeps a reference to `cost`, which must outlive this cache.
  explicit OperatorTimeCache(const CostModel& cost) : cost_model_(cost) {}

  /// Returns the seconds of a computation (`CostModel::compute_s`), computed once for each distinct
  /// operator.
  double cached_operator_seconds(const step::Operator& op);
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  /// The properties of an operator on which its price depends: the key of the cache.
  struct OperatorPriceKey {
    step::OperatorKind kind{};
    step::Phase phase{};
    DType dtype{};
    bool routed = false, gated = false;
    double busiest = 1;
    step::OperatorShape shape{};
    bool operator==(const OperatorPriceKey&) const = default;
  };
  struct Hash {
    std::size_t operator()(const OperatorPriceKey& key) const;
  };

  const CostModel& cost_model_;
  std::unordered_map<OperatorPriceKey, double, Hash> known_;
};

}  // namespace stepwright::cost
