// Sums of rows, and learned positions added to them.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright {

void add_forward(Call& call) {
  if (call.op.parameter < 0) return call.write(0, call.read(0) + call.read(1));
  at::Tensor x = call.read(0);
  x.add_(call.weight().index_select(0, call.positions(x.size(0))));
  call.write(0, std::move(x));
}

/// The gradient of keys and values that came round the ring, into the last columns of the rows.
void accumulate_forward(Call& call) {
  const at::Tensor& travelled = call.read(0);
  at::Tensor rows = call.read(1);
  const std::int64_t width = travelled.size(1);
  rows.narrow(1, rows.size(1) - width, width).add_(travelled);
  call.write(0, std::move(rows));
}

void accumulate_weight_gradient(Call& call) {
  at::Tensor gradient = call.gradient();
  const at::Tensor& dx = call.read(0);
  gradient.index_add_(0, call.positions(dx.size(0)), dx.to(gradient.scalar_type()));
}

}  // namespace stepwright
