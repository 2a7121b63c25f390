// The end of a step: the norm of the gradients, and the update of this rank's share.
#include <algorithm>
#include <cmath>

#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright {
namespace {

/// Calls `act` with each parameter whose states are here.
template <class Act>
void each_parameter(RankState& rank, Act act) {
  for (const std::int32_t id : rank.store.order()) {
    for (StoredParameter& parameter : rank.store.unit(id).parameters) {
      if (parameter.owner == nullptr) act(parameter);
    }
  }
}

struct Rates {
  double learning;
  double norm;   ///< Of the gradients, over all ranks.
  double scale;  ///< Of gradients, from clipping.
  double first;  ///< Bias corrections.
  double second;
};

Rates rates(const RankState& rank) {
  const TrainOptions& options = rank.options;
  const double norm =
      std::sqrt(rank.sums.dense_square.item<double>() + rank.sums.expert_square.item<double>());
  const auto steps = static_cast<double>(rank.step + 1);
  return {.learning = learning_rate(options, rank.step),
          .norm = norm,
          .scale = options.clip > 0 ? std::min(1.0, options.clip / (norm + 1e-6)) : 1.0,
          .first = 1 - std::pow(options.beta1, steps),
          .second = 1 - std::pow(options.beta2, steps)};
}

void update(StoredParameter& parameter, const RankState& rank, const Rates& r) {
  const TrainOptions& options = rank.options;
  at::Tensor& weight = parameter.master;
  const at::Tensor gradient = parameter.optimizer_gradient().to(weight.scalar_type()) * r.scale;
  if (rank.job.optimizer == Optimizer::kSgd) {
    weight.sub_(gradient, r.learning);
  } else {
    if (rank.job.optimizer == Optimizer::kAdamW) {
      weight.mul_(1 - r.learning * options.weight_decay);
    }
    parameter.first_moment.mul_(options.beta1).add_(gradient, 1 - options.beta1);
    parameter.second_moment.mul_(options.beta2).addcmul_(gradient, gradient, 1 - options.beta2);
    const at::Tensor deviation =
        parameter.second_moment.sqrt().div_(std::sqrt(r.second)).add_(options.epsilon);
    weight.addcdiv_(parameter.first_moment, deviation, -r.learning / r.first);
  }
  if (rank.setting.storage != rank.setting.exact) parameter.optimizer_value().copy_(weight);
}

}  // namespace

void norm_square(Call& call) {
  StepSums& sums = call.rank.sums;
  each_parameter(call.rank, [&](const StoredParameter& parameter) {
    if (parameter.slice.duplicate) return;
    at::Tensor& sum = parameter.slice.expert ? sums.expert_square : sums.dense_square;
    sum.add_(parameter.optimizer_gradient().to(sum.scalar_type()).square().sum());
  });
}

void optimizer_update(Call& call) {
  const Rates r = rates(call.rank);
  if (!std::isfinite(r.norm)) return;  // every rank knows the norm, so none updates
  each_parameter(call.rank, [&](StoredParameter& p) { update(p, call.rank, r); });
}

}  // namespace stepwright
