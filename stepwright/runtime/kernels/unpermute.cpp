// Kernels that sum the copies of each row, plain or weighted; if there is a second result, the
// numbers that belong to copies go back to the top k of each row. Also the gradients of gate
// weights.
#include "stepwright/runtime/kernels/expert_row_exchange.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// Writes the gradients of gate weights that are applied on the token's rank: [rows, k].
void gradient_here(KernelCall& call) {
  const at::Tensor& dy = call.read_operand(0);
  const at::Tensor& indices = call.read_operand(2);
  const at::Tensor copies = sort_routed_copies_by_expert(indices);
  const at::Tensor of_copies = dy.index_select(0, at::floor_divide(copies, indices.size(1)));
  const auto exact = scalar_type(call.rank.setting.exact);
  const at::Tensor products = (of_copies.to(exact) * call.read_operand(1)).sum(1);
  at::Tensor gradient = at::empty({indices.numel()}, products.options());
  gradient.index_copy_(0, copies, products);
  call.write_result(0, gradient.view(indices.sizes()));
}

/// Writes the gradients of gate weights that are applied on the experts' rank, in the order in
/// which the weights arrived; the rows' gradient is weighted in place.
void gradient_there(KernelCall& call) {
  const at::Tensor& dy = call.read_operand(0);
  const at::Tensor& where = call.read_operand(2);
  const at::Tensor weights = call.read_operand(3);
  const at::Tensor copies = routing_weight_index_of_rows(call.rank, where);
  const auto exact = scalar_type(call.rank.setting.exact);
  at::Tensor gradient = at::zeros_like(weights);
  gradient.view({-1}).index_copy_(0, copies, (dy.to(exact) * call.read_operand(1)).sum(1));
  const at::Tensor sorted = weights.reshape({-1}).index_select(0, copies).unsqueeze(1);
  call.write_result(0, (dy * sorted).to(dy.scalar_type()));
  call.write_result(1, gradient);
}

}  // namespace

void unpermute_rows(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kGateGradient) {
    return call.writes.size() == 1 ? gradient_here(call) : gradient_there(call);
  }
  const at::Tensor& indices = call.read_operand(1);
  const bool gathered = call.op.purpose == step::OperatorPurpose::kUnsortArrived;
  const at::Tensor copies = gathered ? token_copies_for_own_experts(call.rank, indices)
                                     : sort_routed_copies_by_expert(indices);
  const auto exact = scalar_type(call.rank.setting.exact);
  at::Tensor rows = call.read_operand(0).to(exact);
  const bool carries = call.writes.size() == 2;
  if (call.has_operand(2) && !carries) {
    rows = rows * call.read_operand(2).reshape({-1}).index_select(0, copies).unsqueeze(1);
  }
  at::Tensor sums = at::zeros({indices.size(0), rows.size(1)}, rows.options());
  sums.index_add_(0, at::floor_divide(copies, indices.size(1)), rows);
  call.write_result(0, sums.to(call.read_operand(0).scalar_type()));
  if (!carries) return;
  const at::Tensor numbers = call.read_operand(2).reshape({-1});
  at::Tensor back = at::zeros({indices.numel()}, numbers.options());
  back.index_copy_(0, copies, numbers);
  call.write_result(1, back.view(indices.sizes()));
}

}  // namespace stepwright::runtime
