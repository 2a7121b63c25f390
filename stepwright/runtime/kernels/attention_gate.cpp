// The gate of attention: the core's result times the sigmoid of gates, which are the last columns
// of the rows of queries, keys and values.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

at::Tensor open_gates(const at::Tensor& out, const at::Tensor& rows) {
  return rows.narrow(1, rows.size(1) - out.size(1), out.size(1)).sigmoid();
}

}  // namespace

void attention_gate_forward(KernelCall& call) {
  call.write_result(0,
                    call.read_operand(0) * open_gates(call.read_operand(0), call.read_operand(1)));
}

void attention_gate_backward(KernelCall& call) {
  const at::Tensor& dy = call.read_operand(0);
  const at::Tensor& out = call.read_operand(1);
  const at::Tensor open = open_gates(out, call.read_operand(2));
  call.write_result(0, dy * open);
  call.write_result(1, dy * out * open * (1 - open));
}

}  // namespace stepwright::runtime
