// Kernels of the end of a step: the norm of the gradients, and the update of this rank's share.
#include <algorithm>
#include <cmath>
#include <vector>

#include "stepwright/runtime/kernels/adafactor.h"
#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/runtime/kernels/muon.h"
#include "stepwright/runtime/kernels/update_rates.h"
#include "stepwright/step/matrices.h"

namespace stepwright::runtime {
namespace {

/// Updates a parameter by Adam in one pass over the states; weight decay is separate from the
/// gradient (adamw), or there is none.
void adam(StoredParameter& parameter, const RankState& rank, const OptimizerUpdateInputs& r) {
  const TrainOptions& options = rank.options;
  const bool decays = rank.job.optimizer != plan::Optimizer::kAdam &&
                      rank.job.optimizer != plan::Optimizer::kAdamNarrow;
  const double decay = decays ? options.weight_decay : 0;
  const at::Tensor step = at::scalar_tensor(static_cast<double>(rank.step + 1),
                                            parameter.master.options().dtype(at::kFloat));
  // Narrower moments are widened to the type of the weights for the update.
  const auto wide = [&](const at::Tensor& kept,
                        const std::optional<EightBitOptimizerMoments>& bytes) {
    return bytes ? bytes->decode_moments() : kept.to(parameter.master.scalar_type());
  };
  const at::Tensor first = wide(parameter.first_moment, parameter.first_bytes);
  const at::Tensor second = wide(parameter.second_moment, parameter.second_bytes);
  at::_fused_adamw_({parameter.master}, {clipped_gradient(parameter, r)}, {first}, {second}, {},
                    {step}, r.learning, options.beta1, options.beta2, decay, options.epsilon, false,
                    false);
  if (parameter.first_bytes) {
    parameter.first_bytes->encode_with_new_scales(first);
    parameter.second_bytes->encode_with_new_scales(second);
    return;
  }
  parameter.first_moment.copy_(first);
  parameter.second_moment.copy_(second);
}

bool is_orthogonal(const StoredParameter& parameter, const RankState& rank) {
  return rank.job.optimizer == plan::Optimizer::kMuon && parameter.is_layer_matrix();
}

void update(StoredParameter& parameter, RankState& rank, const OptimizerUpdateInputs& r) {
  if (parameter.master.numel() == 0) return;
  if (rank.job.optimizer == plan::Optimizer::kAdafactor) {
    apply_adafactor_update(parameter, rank, r);
  } else if (rank.job.optimizer == plan::Optimizer::kSgd) {
    parameter.master.sub_(clipped_gradient(parameter, r), r.learning);
  } else if (is_orthogonal(parameter, rank)) {
    apply_muon_update(parameter, rank, r);
  } else {
    adam(parameter, rank, r);
  }
  if (rank.setting.storage != rank.setting.exact) {
    parameter.value_updated_by_own_optimizer().copy_(parameter.master);
  }
}

/// Returns the parameters that the host updates: the first ones, up to the host's share.
std::vector<StoredParameter*> on_host(const RankState& rank) {
  const std::vector<StoredParameter*> own = rank.store.trained_parameters_with_own_states();
  double all = 0;
  for (const StoredParameter* parameter : own) {
    all += static_cast<double>(parameter->master.numel());
  }
  std::vector<StoredParameter*> found;
  double taken = 0;
  for (StoredParameter* parameter : own) {
    if (taken >= rank.plan.offload.optimizer * all) break;
    taken += static_cast<double>(parameter->master.numel());
    found.push_back(parameter);
  }
  return found;
}

void update_all(RankState& rank, const OptimizerUpdateInputs& r) {
  const std::vector<StoredParameter*> others = on_host(rank);
  for (StoredParameter* parameter : rank.store.trained_parameters_with_own_states()) {
    if (std::ranges::find(others, parameter) == others.end()) update(*parameter, rank, r);
  }
}

/// How much a step changes a bias of a router (Megatron-LM, `--moe-router-bias-update-rate`).
constexpr double kBiasRate = 1e-3;

/// Changes a router's biases in favour of experts that got fewer rows than the mean (2408.15664;
/// Megatron-Core transformer/moe/moe_utils.py, `get_updated_expert_bias`).
void correct(StoredParameter& bias) {
  const at::Tensor& loads = bias.gradient;
  bias.value.add_(at::sign(loads.mean() - loads), kBiasRate);
}

}  // namespace

void norm_square(KernelCall& call) {
  StepLossAndNormSums& sums = call.rank.sums;
  for (const StoredParameter* parameter : call.rank.store.trained_parameters_with_own_states()) {
    if (parameter->slice.duplicate) continue;
    at::Tensor& sum = parameter->slice.expert ? sums.expert_square : sums.dense_square;
    const at::Tensor gradient = parameter->gradient_for_own_optimizer().to(sum.scalar_type());
    sum.add_(at::dot(gradient, gradient));
  }
}

void optimizer_update(KernelCall& call) {
  const OptimizerUpdateInputs r = update_rates(call.rank);
  // the norm is finite on all ranks or on none
  if (std::isfinite(r.norm)) update_all(call.rank, r);
  call.rank.factored = {};
  call.rank.orthogonal = {};
  if (!std::isfinite(r.norm)) return;
  for (StoredParameter* bias : call.rank.store.buffers()) {
    if (!bias->frozen) correct(*bias);
  }
}

void orthogonal_update(KernelCall& call) {
  orthogonalize_muon_updates(call.rank, call.op.name == step::kOrthogonalizeExpertName);
}

void host_update(KernelCall& call) {
  const OptimizerUpdateInputs r = update_rates(call.rank);
  if (!std::isfinite(r.norm)) return;
  for (StoredParameter* parameter : on_host(call.rank)) update(*parameter, call.rank, r);
}

void host_copy(KernelCall& call) {
  // States are on the rank's own device, so nothing is copied; activations are passed on unchanged.
  if (call.has_operand(0)) call.write_result(0, call.read_operand(0));
}

}  // namespace stepwright::runtime
