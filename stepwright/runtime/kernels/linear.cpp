// Kernels of matrix products with a weight stored as [columns, inner], and of its bias.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// True if this rank adds the bias: where products are summed over ranks, the first rank does.
bool adds_bias(const KernelCall& call) {
  return !call.operator_parameter().row_parallel || call.rank.place.tensor == 0;
}

/// Returns the gradient of the product's result; other columns may follow it (keys and values after
/// the queries of latent attention).
at::Tensor result_gradient(const KernelCall& call) {
  return call.read_operand(0).narrow(1, 0, call.op.shape.columns);
}

/// Returns the part of the weight or its gradient [columns, inner], or of the bias [columns], that
/// a product uses: all, or this context rank's share of a tensor rank's channels.
at::Tensor used(const KernelCall& call, const at::Tensor& all) {
  const step::OperatorShape& s = call.op.shape;
  const std::int64_t rank = call.rank.place.context;
  const at::Tensor rows =
      s.columns < all.size(0) ? all.narrow(0, rank * s.columns, s.columns) : all;
  const bool cut = all.dim() > 1 && s.inner < all.size(1);
  return cut ? rows.narrow(1, rank * s.inner, s.inner) : rows;
}

at::Tensor matrix(const KernelCall& call, const at::Tensor& all) {
  return used(call, all.dim() > 1 ? all : all.unsqueeze(1));
}

/// Returns the input of a product; other columns may follow it in the same rows.
at::Tensor input(const KernelCall& call, std::size_t place) {
  return call.read_operand(place).narrow(1, 0, call.op.shape.inner);
}

/// Returns the rows that a rank sums for the gradient of a row-parallel product's bias, which is
/// summed over tensor ranks.
at::Tensor bias_rows(const KernelCall& call, const at::Tensor& dy) {
  const step::StepBuildSettings& s = call.rank.setting;
  if (!call.operator_parameter().row_parallel || !s.sequence_parallel) return dy;
  return dy.narrow(0, call.rank.place.tensor * s.rows, s.rows);
}

}  // namespace

void linear_forward(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kOnChip) {
    return call.op.phase == step::Phase::kRecompute ? on_chip_again(call)
                                                    : blockwise_fused_loss(call);
  }
  if (call.op.purpose == step::OperatorPurpose::kAdapterUp) {
    return call.write_result(0, lora_b_product(call, call.read_operand(0), call.operator_weight()));
  }
  const at::Tensor bias = call.bias();
  const at::Tensor weight = matrix(call, call.operator_weight());
  const at::Tensor x = input(call, 0);
  if (bias.defined() && adds_bias(call)) {
    call.write_result(0, at::addmm(used(call, bias), x, weight.t()));
  } else {
    call.write_result(0, at::mm(x, weight.t()));
  }
}

void linear_data_gradient_kernel(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kOnChip) return on_chip_data_gradient(call);
  if (call.op.purpose == step::OperatorPurpose::kAdapterUp) {
    return call.write_result(
        0, adapter_up_data_gradient(call, call.read_operand(0), call.operator_weight()));
  }
  call.write_result(0, at::mm(result_gradient(call), matrix(call, call.operator_weight())));
}

void linear_weight_gradient_kernel(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kOnChip) return on_chip_weight_gradient(call);
  if (call.op.purpose == step::OperatorPurpose::kAdapterUp) {
    return add_lora_b_weight_gradient(call, {call.read_operand(0), call.read_operand(1)},
                                      call.gradient(), 1);
  }
  const at::Tensor dy = result_gradient(call);
  const at::Tensor x = input(call, 1);
  if (call.op.purpose == step::OperatorPurpose::kHeldGradient) {
    at::Tensor& held = call.writes.front()->value;
    held = held.defined() ? held.addmm_(dy.t(), x) : at::mm(dy.t(), x);
    return;
  }
  at::Tensor gradient = matrix(call, call.gradient());
  if (gradient.scalar_type() == dy.scalar_type()) {
    gradient.addmm_(dy.t(), x);
  } else {
    gradient.add_(at::mm(dy.t(), x));
  }
  const at::Tensor bias = call.bias_gradient();
  if (bias.defined()) {
    const at::Tensor own = used(call, bias);
    accumulate_gradient(own, bias_rows(call, dy).to(bias.scalar_type()).sum(0));
  }
}

}  // namespace stepwright::runtime
