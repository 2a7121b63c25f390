// The gate of attention: the core's result times the sigmoid of gates, which are the last columns
// of the rows of queries, keys and values.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

at::Tensor open_gates(const at::Tensor& out, const at::Tensor& rows) {
  return rows.narrow(1, rows.size(1) - out.size(1), out.size(1)).sigmoid();
}

}  // namespace

void attention_gate_forward(Call& call) {
  call.write(0, call.read(0) * open_gates(call.read(0), call.read(1)));
}

void attention_gate_backward(Call& call) {
  const at::Tensor& dy = call.read(0);
  const at::Tensor& out = call.read(1);
  const at::Tensor open = open_gates(out, call.read(2));
  call.write(0, dy * open);
  call.write(1, dy * out * open * (1 - open));
}

}  // namespace stepwright::runtime
