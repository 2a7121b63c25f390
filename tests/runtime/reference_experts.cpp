#include "tests/runtime/reference_experts.h"

#include <ATen/TensorIndexing.h>

#include <cmath>
#include <vector>

namespace stepwright::testing {

using at::Tensor;
using Feed = ReferenceFeedForward;

Tensor Feed::act(const Tensor& x) const {
  switch (m_.activation) {
    case model::ActivationFunction::kSilu: return x * x.sigmoid();
    case model::ActivationFunction::kGelu: return at::gelu(x);
    case model::ActivationFunction::kGeluTanh: return at::gelu(x, "tanh");
    case model::ActivationFunction::kRelu: return x.clamp_min(0);
    case model::ActivationFunction::kXielu: break;  // not executed
    case model::ActivationFunction::kClampedSwiglu:
    case model::ActivationFunction::kQuickGelu: return x * (1.702 * x).sigmoid();
    case model::ActivationFunction::kSquaredRelu: return x.clamp_min(0).pow(2);
  }
  return x;
}

Tensor Feed::gate(const Tensor& wide) const {
  if (!m_.gated) return act(wide);
  const std::int64_t half = wide.size(-1) / 2;
  const Tensor gates = wide.narrow(-1, 0, half);
  const Tensor ups = wide.narrow(-1, half, half);
  if (m_.activation != model::ActivationFunction::kClampedSwiglu) return act(gates) * ups;
  return act(gates.clamp_max(7)) * (ups.clamp(-7, 7) + 1);
}

Tensor Feed::linear(const Tensor& x, const std::string& name) const {
  const Tensor y = at::matmul(x, p_(name).t()) + adapted_(x, name, -1);
  const Tensor bias = p_(name + "_bias");
  return bias.defined() ? y + bias : y;
}

Tensor Feed::mlp(const Tensor& x, const std::string& name) const {
  return linear(gate(linear(x, name + ".fc1")), name + ".fc2");
}

/// Returns scores that are zero outside of the best groups; groups are ranked by their best expert,
/// or by their best two if biases correct the choice.
Tensor Feed::of_groups(const Tensor& scores) const {
  const model::MixtureOfExperts& experts = *m_.experts;
  if (experts.groups == 1) return scores;
  const Tensor grouped = scores.unflatten(-1, {experts.groups, -1});
  const Tensor best =
      experts.correction_bias ? std::get<0>(grouped.topk(2, -1)).sum(-1) : grouped.amax(-1);
  const Tensor least = std::get<0>(best.topk(experts.top_groups, -1)).amin(-1, true);
  const Tensor open = best.ge(least).repeat_interleave(experts.count / experts.groups, -1);
  return scores.masked_fill(open.logical_not(), -INFINITY);
}

/// Returns the experts of each row [rows, k]: the most probable ones, or assigned in turn by the
/// row's number.
Tensor Feed::chosen(const Tensor& scores) const {
  const model::MixtureOfExperts& experts = *m_.experts;
  if (job_.routing == plan::Routing::kLearned) {
    return std::get<1>(of_groups(scores).topk(experts.top_k, -1));
  }
  const Tensor slots = at::arange(scores.size(0) * experts.top_k, at::kLong);
  return slots.remainder(experts.count).view({-1, experts.top_k});
}

Tensor Feed::expert(const Tensor& rows, std::int64_t index) const {
  const auto product = [&](const Tensor& x, const std::string& name) {
    const Tensor y = at::matmul(x, p_(name)[index].t()) + adapted_(x, name, index);
    return m_.experts->bias ? y + p_(name + "_bias")[index].view({1, -1}) : y;
  };
  return product(gate(product(rows, "experts.fc1")), "experts.fc2");
}

Feed::Mixture Feed::mixture(const Tensor& batch) const {
  const Tensor x = batch.reshape({-1, m_.hidden});
  const Tensor logits = linear(x, "router.weight");
  const bool sigmoid =
      m_.experts->scoring == model::RouterScoring::kSigmoid || m_.experts->correction_bias;
  const Tensor all = sigmoid ? logits.sigmoid() : logits.softmax(-1);
  const Tensor bias = p_("router.correction_bias");
  const Tensor which = chosen(bias.defined() ? all.detach() + bias : all.detach());
  Tensor weights = all.gather(1, which);
  if (m_.experts->normalize_top_k) weights = weights / weights.sum(-1, true);
  weights = weights * m_.experts->scale;
  const bool narrows = m_.experts->latent > 0;
  const Tensor rows = narrows ? linear(x, "experts.latent_in") : x;
  Tensor out = at::zeros_like(rows);
  for (std::int64_t i = 0; i < m_.experts->count; ++i) {
    const std::vector<Tensor> places = which.eq(i).nonzero_numpy();
    const Tensor y = expert(rows.index_select(0, places[0]), i);
    out = out.index_add(0, places[0], y * weights.index({places[0], places[1]}).unsqueeze(1));
  }
  if (narrows) out = linear(out, "experts.latent_out");
  if (m_.experts->shared_ffn > 0) {
    Tensor shared = mlp(x, "shared");
    if (m_.experts->shared_gate) {
      shared = shared * at::sigmoid(at::matmul(x, p_("shared.gate").t()));
    }
    out = out + shared;
  }
  return {out.view(batch.sizes()),
          at::bincount(which.reshape({-1}), {}, m_.experts->count).to(at::kDouble)};
}

}  // namespace stepwright::testing
