// Kernels of activation functions; gated ones read rows of gates, then ups.
#include "stepwright/runtime/kernels/expert_row_exchange.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

constexpr double kQuickGeluSlope = 1.702;
/// Upper limit of gates, and limit of ups in both directions (huggingface/transformers
/// models/gpt_oss, GptOssExperts).
constexpr double kClampedLimit = 7;

at::Tensor apply(model::ActivationFunction kind, const at::Tensor& x) {
  switch (kind) {
    case model::ActivationFunction::kSilu: return at::silu(x);
    case model::ActivationFunction::kGelu: return at::gelu(x);
    case model::ActivationFunction::kGeluTanh: return at::gelu(x, "tanh");
    case model::ActivationFunction::kRelu: return at::relu(x);
    case model::ActivationFunction::kSquaredRelu: return at::relu(x).square();
    case model::ActivationFunction::kQuickGelu:
    case model::ActivationFunction::kClampedSwiglu: return x * at::sigmoid(kQuickGeluSlope * x);
    case model::ActivationFunction::kXielu:
      break;  // `check_runtime_supports_plan` refuses it before a run
  }
  return {};
}

at::Tensor gradient_of(model::ActivationFunction kind, const at::Tensor& dy, const at::Tensor& x) {
  switch (kind) {
    case model::ActivationFunction::kSilu: return at::silu_backward(dy, x);
    case model::ActivationFunction::kGelu: return at::gelu_backward(dy, x);
    case model::ActivationFunction::kGeluTanh: return at::gelu_backward(dy, x, "tanh");
    case model::ActivationFunction::kRelu: return at::threshold_backward(dy, x, 0);
    case model::ActivationFunction::kSquaredRelu: return dy * at::relu(x) * 2;
    case model::ActivationFunction::kQuickGelu:
    case model::ActivationFunction::kClampedSwiglu: {
      const at::Tensor share = at::sigmoid(kQuickGeluSlope * x);
      return dy * share * (1 + kQuickGeluSlope * x * (1 - share));
    }
    case model::ActivationFunction::kXielu: break;
  }
  return {};
}

/// Gates and ups of rows, as they enter an activation, and where their gradients are not zero.
struct Gated {
  at::Tensor gates;
  at::Tensor ups;
  at::Tensor open_gates;  ///< True where gates let gradients pass; undefined: everywhere.
  at::Tensor open_ups;
};

Gated gated(model::ActivationFunction kind, const at::Tensor& rows) {
  const std::int64_t width = rows.size(1) / 2;
  const at::Tensor gates = rows.narrow(1, 0, width);
  const at::Tensor ups = rows.narrow(1, width, width);
  if (kind != model::ActivationFunction::kClampedSwiglu) return {gates, ups, {}, {}};
  return {gates.clamp_max(kClampedLimit), ups.clamp(-kClampedLimit, kClampedLimit) + 1,
          gates.le(kClampedLimit), ups.abs().le(kClampedLimit)};
}

at::Tensor where_open(const at::Tensor& gradient, const at::Tensor& open) {
  return open.defined() ? gradient * open : gradient;
}

at::Tensor activated(const KernelCall& call, const at::Tensor& x) {
  const model::ActivationFunction kind = call.rank.setting.model->activation;
  if (!call.op.gated) return apply(kind, x);
  const Gated in = gated(kind, x);
  return apply(kind, in.gates) * in.ups;
}

at::Tensor input_gradient(const KernelCall& call, const at::Tensor& dy, const at::Tensor& x) {
  const model::ActivationFunction kind = call.rank.setting.model->activation;
  if (!call.op.gated) return gradient_of(kind, dy, x);
  const Gated in = gated(kind, x);
  const at::Tensor d_gates = gradient_of(kind, dy * in.ups, in.gates);
  const at::Tensor d_ups = dy * apply(kind, in.gates);
  return at::cat({where_open(d_gates, in.open_gates), where_open(d_ups, in.open_ups)}, 1);
}

/// Computes the activation of rows of experts, each multiplied by its router probability
/// (`step/experts.cpp`).
void weighted_forward(KernelCall& call) {
  const at::Tensor& x = call.read_operand(0);
  const at::Tensor places = routing_weight_index_of_rows(call.rank, call.read_operand(1));
  const at::Tensor weights =
      call.read_operand(2).reshape({-1}).index_select(0, places).unsqueeze(1);
  const at::Tensor active = activated(call, x);
  if (call.writes.size() > 1) call.write_result(call.writes.size() - 1, active);
  call.write_result(0, (active * weights).to(x.scalar_type()));
}

void weighted_backward(KernelCall& call) {
  const at::Tensor& dy = call.read_operand(0);
  const at::Tensor& x = call.read_operand(1);
  const at::Tensor places = routing_weight_index_of_rows(call.rank, call.read_operand(2));
  const at::Tensor& weights = call.read_operand(3);
  const at::Tensor sorted = weights.reshape({-1}).index_select(0, places).unsqueeze(1);
  at::Tensor d_weights = at::zeros_like(weights);
  d_weights.view({-1}).index_copy_(0, places,
                                   (dy.to(weights.scalar_type()) * activated(call, x)).sum(1));
  call.write_result(0, input_gradient(call, (dy * sorted).to(dy.scalar_type()), x));
  call.write_result(1, d_weights);
}

}  // namespace

void activation_forward(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kSharedGate) return shared_gate_forward(call);
  if (call.op.purpose == step::OperatorPurpose::kAttentionGate) return attention_gate_forward(call);
  if (call.op.purpose == step::OperatorPurpose::kMixerGate) return mixer_gate_forward(call);
  if (call.op.purpose == step::OperatorPurpose::kWeightedExperts) return weighted_forward(call);
  const model::ActivationFunction kind = call.rank.setting.model->activation;
  const at::Tensor& x = call.read_operand(0);
  if (!call.op.gated) return call.write_result(0, apply(kind, x));
  const Gated in = gated(kind, x);
  const at::Tensor active = apply(kind, in.gates);
  if (call.writes.size() > 1) call.write_result(1, active);
  call.write_result(0, active * in.ups);
}

void activation_backward(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kSharedGate) return shared_gate_backward(call);
  if (call.op.purpose == step::OperatorPurpose::kAttentionGate)
    return attention_gate_backward(call);
  if (call.op.purpose == step::OperatorPurpose::kMixerGate) return mixer_gate_backward(call);
  if (call.op.purpose == step::OperatorPurpose::kWeightedExperts) return weighted_backward(call);
  call.write_result(0, input_gradient(call, call.read_operand(0), call.read_operand(1)));
}

}  // namespace stepwright::runtime
