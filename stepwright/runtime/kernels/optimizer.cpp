// The end of a step: the norm of the gradients, and the update of this rank's share.
#include <algorithm>
#include <cmath>

#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright {
namespace {

struct Rates {
  double learning;
  double norm;   ///< Of the gradients, over all ranks.
  double scale;  ///< Of gradients, from clipping.
};

Rates rates(const RankState& rank) {
  const TrainOptions& options = rank.options;
  const double norm =
      std::sqrt(rank.sums.dense_square.item<double>() + rank.sums.expert_square.item<double>());
  return {.learning = learning_rate(options, rank.step),
          .norm = norm,
          .scale = options.clip > 0 ? std::min(1.0, options.clip / (norm + 1e-6)) : 1.0};
}

/// The gradient that the update takes, in the type of the weights it updates.
at::Tensor clipped_gradient(const StoredParameter& parameter, const Rates& r) {
  at::Tensor gradient = parameter.optimizer_gradient().to(parameter.master.scalar_type());
  return r.scale < 1 ? gradient * r.scale : gradient;
}

/// Adam in one pass over the states; weights decay apart from the gradient (adamw) or not at all.
void adam(StoredParameter& parameter, const RankState& rank, const Rates& r) {
  const TrainOptions& options = rank.options;
  const double decay = rank.job.optimizer == Optimizer::kAdamW ? options.weight_decay : 0;
  const at::Tensor step = at::scalar_tensor(static_cast<double>(rank.step + 1),
                                            parameter.master.options().dtype(at::kFloat));
  at::_fused_adamw_({parameter.master}, {clipped_gradient(parameter, r)}, {parameter.first_moment},
                    {parameter.second_moment}, {}, {step}, r.learning, options.beta1, options.beta2,
                    decay, options.epsilon, false, false);
}

void update(StoredParameter& parameter, const RankState& rank, const Rates& r) {
  if (parameter.master.numel() == 0) return;
  if (rank.job.optimizer == Optimizer::kSgd) {
    parameter.master.sub_(clipped_gradient(parameter, r), r.learning);
  } else {
    adam(parameter, rank, r);
  }
  if (rank.setting.storage != rank.setting.exact) {
    parameter.optimizer_value().copy_(parameter.master);
  }
}

/// By how much a step moves a bias of a router (Megatron-LM, `--moe-router-bias-update-rate`).
constexpr double kBiasRate = 1e-3;

/// Towards experts that got fewer rows than the mean (2408.15664; Megatron-Core
/// transformer/moe/moe_utils.py, `get_updated_expert_bias`).
void correct(StoredParameter& bias) {
  const at::Tensor& loads = bias.gradient;
  bias.value.add_(at::sign(loads.mean() - loads), kBiasRate);
}

}  // namespace

void norm_square(Call& call) {
  StepSums& sums = call.rank.sums;
  for (const StoredParameter* parameter : call.rank.store.own()) {
    if (parameter->slice.duplicate) continue;
    at::Tensor& sum = parameter->slice.expert ? sums.expert_square : sums.dense_square;
    const at::Tensor gradient = parameter->optimizer_gradient().to(sum.scalar_type());
    sum.add_(at::dot(gradient, gradient));
  }
}

void optimizer_update(Call& call) {
  const Rates r = rates(call.rank);
  if (!std::isfinite(r.norm)) return;  // every rank knows the norm, so none updates
  for (StoredParameter* parameter : call.rank.store.own()) update(*parameter, call.rank, r);
  for (StoredParameter* bias : call.rank.store.buffers()) correct(*bias);
}

}  // namespace stepwright
