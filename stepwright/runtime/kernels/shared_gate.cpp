// Kernels of the gate of shared experts: their output times the sigmoid of one logit a row.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {

void shared_gate_forward(KernelCall& call) {
  const at::Tensor& shared = call.read_operand(0);
  call.write_result(0, shared * call.read_operand(1).sigmoid());
}

void shared_gate_backward(KernelCall& call) {
  const at::Tensor& dy = call.read_operand(0);
  const at::Tensor& shared = call.read_operand(1);
  const auto exact = scalar_type(call.rank.setting.exact);
  const at::Tensor open = call.read_operand(2).to(exact).sigmoid();
  const at::Tensor along = (dy.to(exact) * shared).sum(1, true);
  call.write_result(0, (dy * open).to(dy.scalar_type()));
  call.write_result(1, (along * open * (1 - open)).to(dy.scalar_type()));
}

}  // namespace stepwright::runtime
