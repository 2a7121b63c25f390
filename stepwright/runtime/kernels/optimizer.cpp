// The end of a step: the norm of the gradients, and the update of this rank's share.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/step/matrices.h"

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
  const bool decays =
      rank.job.optimizer == Optimizer::kAdamW || rank.job.optimizer == Optimizer::kMuon;
  const double decay = decays ? options.weight_decay : 0;
  const at::Tensor step = at::scalar_tensor(static_cast<double>(rank.step + 1),
                                            parameter.master.options().dtype(at::kFloat));
  // Moments that are kept narrower are as wide as the weights in between.
  const at::Tensor first = parameter.first_moment.to(parameter.master.scalar_type());
  const at::Tensor second = parameter.second_moment.to(parameter.master.scalar_type());
  at::_fused_adamw_({parameter.master}, {clipped_gradient(parameter, r)}, {first}, {second}, {},
                    {step}, r.learning, options.beta1, options.beta2, decay, options.epsilon, false,
                    false);
  parameter.first_moment.copy_(first);
  parameter.second_moment.copy_(second);
}

/// Coefficients of five steps, momentum and scale of Muon, with Nesterov's momentum
/// (https://kellerjordan.github.io/posts/muon, https://github.com/KellerJordan/Muon muon.py).
constexpr double kMomentum = 0.95;
constexpr std::array<double, 3> kNewtonSchulz = {3.4445, -4.7750, 2.0315};

/// The nearest matrix with singular values of about 1.
at::Tensor orthogonal(const at::Tensor& matrix) {
  const bool tall = matrix.size(-2) > matrix.size(-1);
  at::Tensor x = tall ? matrix.transpose(-2, -1) : matrix;
  x = x / (x.norm() + 1e-7);
  const auto [a, b, c] = kNewtonSchulz;
  for (std::int64_t step = 0; step < kOrthogonalSteps; ++step) {
    const at::Tensor square = at::matmul(x, x.transpose(-2, -1));
    x = a * x + at::matmul(b * square + c * at::matmul(square, square), x);
  }
  return tall ? x.transpose(-2, -1) : x;
}

/// Rows of the matrices that stand one below the other in a parameter.
std::vector<std::int64_t> stacked_rows(const StoredParameter& parameter, const Architecture& m) {
  if (parameter.local_name != "attention.qkv") return {parameter.slice.local_rows};
  const std::int64_t queries = m.heads * m.head_dim;
  const std::int64_t keys = m.kv_heads * m.head_dim;
  std::vector<std::int64_t> rows = {queries, keys, keys};
  if (m.attention_gate) rows.push_back(queries);
  return rows;
}

void muon(StoredParameter& parameter, const RankState& rank, const Rates& r) {
  const at::Tensor gradient = clipped_gradient(parameter, r);
  parameter.first_moment.lerp_(gradient, 1 - kMomentum);
  const at::Tensor flat = gradient.lerp(parameter.first_moment, kMomentum);
  const at::Tensor moved = parameter.shaped(flat);
  parameter.master.mul_(1 - r.learning * rank.options.weight_decay);
  at::Tensor weights = parameter.shaped(parameter.master);
  const auto take = [&](at::Tensor into, const at::Tensor& step) {
    const double shape = static_cast<double>(step.size(0)) / static_cast<double>(step.size(1));
    into.sub_(orthogonal(step), r.learning * std::sqrt(std::max(1.0, shape)));
  };
  for (std::int64_t copy = 0; copy < (parameter.slice.expert ? moved.size(0) : 1); ++copy) {
    const at::Tensor step = parameter.slice.expert ? moved[copy] : moved;
    const at::Tensor into = parameter.slice.expert ? weights[copy] : weights;
    std::int64_t row = 0;
    for (const std::int64_t rows : stacked_rows(parameter, *rank.setting.model)) {
      take(into.narrow(0, row, rows), step.narrow(0, row, rows));
      row += rows;
    }
  }
}

bool is_orthogonal(const StoredParameter& parameter, const RankState& rank) {
  return rank.job.optimizer == Optimizer::kMuon &&
         is_layer_matrix(parameter.local_name, parameter.slice.local_rows,
                         parameter.slice.local_columns);
}

void update(StoredParameter& parameter, const RankState& rank, const Rates& r) {
  if (parameter.master.numel() == 0) return;
  if (rank.job.optimizer == Optimizer::kSgd) {
    parameter.master.sub_(clipped_gradient(parameter, r), r.learning);
  } else if (is_orthogonal(parameter, rank)) {
    muon(parameter, rank, r);
  } else {
    adam(parameter, rank, r);
  }
  if (rank.setting.storage != rank.setting.exact) {
    parameter.optimizer_value().copy_(parameter.master);
  }
}

/// The parameters whose update the host does: the first ones, until they are its share.
std::vector<StoredParameter*> on_host(const RankState& rank) {
  const std::vector<StoredParameter*> own = rank.store.own();
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
  const std::vector<StoredParameter*> others = on_host(call.rank);
  for (StoredParameter* parameter : call.rank.store.own()) {
    if (is_orthogonal(*parameter, call.rank)) continue;
    if (std::ranges::find(others, parameter) == others.end()) update(*parameter, call.rank, r);
  }
  for (StoredParameter* bias : call.rank.store.buffers()) {
    if (!bias->frozen) correct(*bias);
  }
}

void orthogonal_update(Call& call) {
  const Rates r = rates(call.rank);
  if (!std::isfinite(r.norm)) return;
  const bool experts = call.op.name == kExpertMatrices;
  for (StoredParameter* parameter : call.rank.store.own()) {
    const bool mine = parameter->slice.expert == experts;
    if (mine && is_orthogonal(*parameter, call.rank)) update(*parameter, call.rank, r);
  }
}

void host_update(Call& call) {
  const Rates r = rates(call.rank);
  if (!std::isfinite(r.norm)) return;
  for (StoredParameter* parameter : on_host(call.rank)) update(*parameter, call.rank, r);
}

void host_copy(Call& call) {
  // States lie where the rank's device is; activations are handed on as they are.
  if (call.has(0)) call.write(0, call.read(0));
}

}  // namespace stepwright
