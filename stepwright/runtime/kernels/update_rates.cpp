#include "stepwright/runtime/kernels/update_rates.h"

#include <algorithm>
#include <cmath>

namespace stepwright::runtime {

OptimizerUpdateInputs update_rates(const RankState& rank) {
  const TrainOptions& options = rank.options;
  const double norm =
      std::sqrt(rank.sums.dense_square.item<double>() + rank.sums.expert_square.item<double>());
  return {.learning = learning_rate(options, rank.step),
          .norm = norm,
          .scale = options.clip > 0 ? std::min(1.0, options.clip / (norm + 1e-6)) : 1.0};
}

at::Tensor clipped_gradient(const StoredParameter& parameter, const OptimizerUpdateInputs& rates) {
  at::Tensor gradient = parameter.gradient_for_own_optimizer().to(parameter.master.scalar_type());
  return rates.scale < 1 ? gradient * rates.scale : gradient;
}

}  // namespace stepwright::runtime
