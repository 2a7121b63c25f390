// The router's gate: a softmax over all experts or a sigmoid of each, the largest k of a row (of
// equal ones the lowest expert), and their weights. Balanced routing assigns experts by the index
// of the token in the batch; the weights still come from the router.
#include "stepwright/runtime/kernels/top_k.h"

#include <algorithm>
#include <limits>

#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// Returns consecutive experts for consecutive tokens of the batch, whatever rank they are on.
at::Tensor dealt_out(const KernelCall& call, std::int64_t rows,
                     const model::MixtureOfExperts& experts) {
  const at::Tensor first = call.token_indices_in_global_batch(rows).unsqueeze(1) * experts.top_k;
  return (first + at::arange(experts.top_k, first.options())).remainder(experts.count);
}

/// True if scores are sigmoids; routers with correction biases are those of DeepSeek-V3, which use
/// them.
bool is_sigmoid(const model::MixtureOfExperts& experts) {
  return experts.scoring == model::RouterScoring::kSigmoid || experts.correction_bias;
}

/// Score of experts outside a row's best groups: they are never chosen.
constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Returns scores that exclude the experts outside of the row's best `top_groups` groups. A group
/// counts as its best expert or, with correction biases, as the sum of its best two
/// (huggingface/transformers models/deepseek_v2 and deepseek_v3, `route_tokens_to_experts`).
at::Tensor of_best_groups(const at::Tensor& scores, const model::MixtureOfExperts& experts) {
  if (experts.groups <= 1 || experts.top_groups == experts.groups) return scores;
  const at::Tensor grouped = scores.view({scores.size(0), experts.groups, -1});
  const std::int64_t best = experts.correction_bias ? 2 : 1;
  const at::Tensor counts = std::get<0>(grouped.topk(std::min(best, grouped.size(2)), 2)).sum(2);
  const at::Tensor chosen = top_k_indices_of_rows(counts, experts.top_groups);
  const at::Tensor open = at::zeros_like(counts, at::kBool).scatter_(1, chosen, true);
  return grouped.masked_fill(open.unsqueeze(2).logical_not(), kNever).view(scores.sizes());
}

}  // namespace

at::Tensor top_k_indices_of_rows(const at::Tensor& values, std::int64_t count) {
  const auto sorted = at::sort(values, /*stable=*/true, /*dim=*/1, /*descending=*/true);
  return std::get<1>(sorted).narrow(1, 0, count).contiguous();
}

void top_k_forward(KernelCall& call) {
  const model::MixtureOfExperts& experts = *call.rank.setting.model->experts;
  const at::Tensor exact = call.read_operand(0).to(scalar_type(call.rank.setting.exact));
  const at::Tensor probabilities = is_sigmoid(experts) ? exact.sigmoid() : exact.softmax(1);
  const at::Tensor bias = call.operator_weight(kRouterBiasName);
  const at::Tensor scores = bias.defined() ? probabilities + bias : probabilities;
  const at::Tensor chosen =
      call.rank.job.routing == plan::Routing::kBalanced
          ? dealt_out(call, exact.size(0), experts)
          : top_k_indices_of_rows(of_best_groups(scores, experts), experts.top_k);
  at::Tensor weights = probabilities.gather(1, chosen);
  if (experts.normalize_top_k) weights = weights / weights.sum(1, true);
  call.write_result(0, probabilities);
  call.write_result(1, weights * experts.scale);
  call.write_result(2, chosen.to(at::kInt));
  const at::Tensor counts = at::bincount(chosen.reshape({-1}), {}, experts.count);
  // Undefined for a router that is not trained.
  const at::Tensor loads = call.gradient(kRouterBiasName);
  if (loads.defined() && call.op.phase == step::Phase::kForward) accumulate_gradient(loads, counts);
  call.write_result(3, counts.unsqueeze(0));
}

void top_k_backward(KernelCall& call) {
  const model::MixtureOfExperts& experts = *call.rank.setting.model->experts;
  const at::Tensor& probabilities = call.read_operand(1);
  const at::Tensor chosen = call.read_operand(2).to(at::kLong);
  at::Tensor d_chosen = call.read_operand(0) * experts.scale;
  if (experts.normalize_top_k) {
    const at::Tensor picked = probabilities.gather(1, chosen);
    const at::Tensor sum = picked.sum(1, true);
    d_chosen = (d_chosen - (d_chosen * picked).sum(1, true) / sum) / sum;
  }
  const at::Tensor d = at::zeros_like(probabilities).scatter_(1, chosen, d_chosen);
  const at::Tensor slope =
      is_sigmoid(experts) ? d * (1 - probabilities) : d - (d * probabilities).sum(1, true);
  const at::Tensor d_logits = probabilities * slope;
  call.write_result(0, d_logits.to(scalar_type(call.rank.setting.storage)));
}

}  // namespace stepwright::runtime
