// Activation functions; gated ones read gates, then ups.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright {
namespace {

constexpr double kQuickGeluSlope = 1.702;

at::Tensor apply(Activation kind, const at::Tensor& x) {
  switch (kind) {
    case Activation::kSilu: return at::silu(x);
    case Activation::kGelu: return at::gelu(x);
    case Activation::kGeluTanh: return at::gelu(x, "tanh");
    case Activation::kRelu: return at::relu(x);
    case Activation::kSquaredRelu: return at::relu(x).square();
    case Activation::kQuickGelu: return x * at::sigmoid(kQuickGeluSlope * x);
    case Activation::kClampedSwiglu: break;  // refused before a run
  }
  return {};
}

at::Tensor gradient_of(Activation kind, const at::Tensor& dy, const at::Tensor& x) {
  switch (kind) {
    case Activation::kSilu: return at::silu_backward(dy, x);
    case Activation::kGelu: return at::gelu_backward(dy, x);
    case Activation::kGeluTanh: return at::gelu_backward(dy, x, "tanh");
    case Activation::kRelu: return at::threshold_backward(dy, x, 0);
    case Activation::kSquaredRelu: return dy * at::relu(x) * 2;
    case Activation::kQuickGelu: {
      const at::Tensor share = at::sigmoid(kQuickGeluSlope * x);
      return dy * share * (1 + kQuickGeluSlope * x * (1 - share));
    }
    case Activation::kClampedSwiglu: break;
  }
  return {};
}

}  // namespace

void activation_forward(Call& call) {
  if (call.op.purpose == Purpose::kSharedGate) return shared_gate_forward(call);
  if (call.op.purpose == Purpose::kAttentionGate) return attention_gate_forward(call);
  const Activation kind = call.rank.setting.model->activation;
  const at::Tensor& x = call.read(0);
  if (!call.op.gated) return call.write(0, apply(kind, x));
  const std::int64_t width = x.size(1) / 2;
  call.write(0, apply(kind, x.narrow(1, 0, width)) * x.narrow(1, width, width));
}

void activation_backward(Call& call) {
  if (call.op.purpose == Purpose::kSharedGate) return shared_gate_backward(call);
  if (call.op.purpose == Purpose::kAttentionGate) return attention_gate_backward(call);
  const Activation kind = call.rank.setting.model->activation;
  const at::Tensor& dy = call.read(0);
  const at::Tensor& x = call.read(1);
  if (!call.op.gated) return call.write(0, gradient_of(kind, dy, x));
  const std::int64_t width = x.size(1) / 2;
  const at::Tensor gate = x.narrow(1, 0, width);
  at::Tensor dx = at::empty_like(x);
  dx.narrow(1, 0, width).copy_(gradient_of(kind, dy * x.narrow(1, width, width), gate));
  dx.narrow(1, width, width).copy_(dy * apply(kind, gate));
  call.write(0, std::move(dx));
}

}  // namespace stepwright
