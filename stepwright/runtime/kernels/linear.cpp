// Matrix products with a weight stored [columns, inner], and the bias of the same name.
#include <fmt/format.h>

#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright {
namespace {

/// Products split by rows end in a sum over tensor ranks; the first of them adds the bias.
bool splits_rows(const Call& call) {
  const std::string_view name = call.op.name;
  return name == "attention.output" || name.ends_with(".fc2");
}

bool adds_bias(const Call& call) { return !splits_rows(call) || call.rank.place.tensor == 0; }

/// Where the bias of a product split by rows has its gradient summed over tensor ranks, each rank
/// takes its own rows.
at::Tensor bias_rows(const Call& call, const at::Tensor& dy) {
  const Setting& s = call.rank.setting;
  if (!splits_rows(call) || !s.sequence_parallel) return dy;
  return dy.narrow(0, call.rank.place.tensor * s.rows, s.rows);
}

std::string bias_name(const Call& call) {
  return call.op.name == "head.weight" ? "head.bias" : fmt::format("{}_bias", call.op.name);
}

}  // namespace

void linear_forward(Call& call) {
  const at::Tensor bias = call.weight(bias_name(call));
  const at::Tensor& x = call.read(0);
  if (bias.defined() && adds_bias(call)) {
    call.write(0, at::addmm(bias, x, call.weight().t()));
  } else {
    call.write(0, at::mm(x, call.weight().t()));
  }
}

void linear_data_gradient_kernel(Call& call) { call.write(0, at::mm(call.read(0), call.weight())); }

void linear_weight_gradient_kernel(Call& call) {
  const at::Tensor& dy = call.read(0);
  const at::Tensor& x = call.read(1);
  at::Tensor gradient = call.gradient(call.piece.parameters.at(call.op.parameter).name);
  if (gradient.scalar_type() == dy.scalar_type()) {
    gradient.addmm_(dy.t(), x);
  } else {
    gradient.add_(at::mm(dy.t(), x));
  }
  const at::Tensor bias = call.gradient(bias_name(call));
  if (bias.defined()) {
    accumulate(bias, bias_rows(call, dy).to(bias.scalar_type()).sum(0));
  }
}

}  // namespace stepwright
