#pragma once

#include <array>

#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright {

/// Prices computations of one job on its device. Immutable, safe to share between threads; pricing
/// allocates nothing. The documented default of `docs/models.md`: a roofline with attainable rates.
class ComputeCost {
 public:
  explicit ComputeCost(const Job& job);

  /// The larger of FLOPs over the attainable rate and bytes over the attainable bandwidth, plus
  /// start and launch gap. Never above the device's peaks. Routed work counts the busiest rank.
  /// `repeats` does not count.
  [[nodiscard]] double seconds(const Operator& op) const;

 private:
  static constexpr std::size_t kDTypes = std::size(kDTypeNames);

  /// Reciprocals of attainable rates, and what every kernel pays.
  struct Rates {
    std::array<double, kDTypes> matrix_s_per_flop{};
    std::array<double, kDTypes> attention_s_per_flop{};  ///< Of the job's kernel, forward.
    double vector_s_per_flop = 0;
    double memory_s_per_byte = 0;
    double start_s = 0;   ///< Of a product or an attention.
    double launch_s = 0;  ///< Of any kernel.
    bool fused_norm = true;
  };

  [[nodiscard]] double arithmetic_s(const Operator& op) const;
  [[nodiscard]] double memory_s(const Operator& op) const;

  Rates rates_;
  double imbalance_ = 1.0;
};

}  // namespace stepwright
