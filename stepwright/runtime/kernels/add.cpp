// Kernels that sum rows, or add learned positions to them.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// Returns the scale of a branch that is added to the residual stream; 1 for other sums.
double scale_of(const KernelCall& call) {
  const bool residual = call.op.part == step::LayerPart::kAttentionResidual ||
                        call.op.part == step::LayerPart::kMlpResidual;
  return residual ? call.rank.setting.model->residual_scale : 1;
}

/// True for a part that Mamba selects: the step sizes of low rank come first in its projection's
/// output, and the convolution's result is all of its input.
bool is_of_selection(step::LayerPart part) {
  return part == step::LayerPart::kMixerStep || part == step::LayerPart::kMixerSelect;
}

/// Returns the first column, in rows of queries, keys, values and gates, that an addition changes.
std::int64_t first_column(const KernelCall& call, const at::Tensor& added, const at::Tensor& rows) {
  if (is_of_selection(call.op.part)) return 0;
  if (call.op.part == step::LayerPart::kAttentionGate) return rows.size(1) - added.size(1);
  return call.rank.setting.heads() * call.rank.setting.model->head_dim;
}

/// Returns the rows of the learned table of positions that the call uses.
at::Tensor rows_of_table(const KernelCall& call, std::int64_t rows) {
  const std::int64_t first = call.rank.setting.model->first_position;
  return first == 0 ? call.token_positions_in_sequences(rows)
                    : call.token_positions_in_sequences(rows) + first;
}

}  // namespace

void add_forward(KernelCall& call) {
  if (call.op.part == step::LayerPart::kMultiTokenJoin) {
    return call.write_result(0, at::cat({call.read_operand(0), call.read_operand(1)}, 1));
  }
  if (call.op.purpose == step::OperatorPurpose::kPartGradient) return part_row_gradient(call);
  if (call.op.purpose == step::OperatorPurpose::kAdapterScale) return adapter_scale(call);
  if (call.op.purpose == step::OperatorPurpose::kAdapterAdd) return adapter_add(call);
  if (call.op.parameter < 0) {
    return call.write_result(0,
                             at::add(call.read_operand(0), call.read_operand(1), scale_of(call)));
  }
  at::Tensor x = call.read_operand(0);
  x.add_(call.operator_weight().index_select(0, rows_of_table(call, x.size(0))));
  call.write_result(0, std::move(x));
}

/// Computes the gradient of a branch that was added; of latent rows, including the columns after
/// them; of joined rows; or of this rank's columns of a tensor gathered by tensor ranks.
void add_backward(KernelCall& call) {
  if (call.op.part == step::LayerPart::kMultiTokenJoin) {
    const std::int64_t half = call.read_operand(0).size(1) / 2;
    call.write_result(0, call.read_operand(0).narrow(1, 0, half));
    return call.write_result(1, call.read_operand(0).narrow(1, half, half));
  }
  if (call.op.part == step::LayerPart::kMultiTokenProjection) {
    const std::int64_t columns = call.op.shape.columns;
    return call.write_result(
        0, call.read_operand(0).narrow(1, call.rank.place.tensor * columns, columns));
  }
  if (call.op.purpose == step::OperatorPurpose::kAdapterScale) return adapter_scale(call);
  if (call.op.purpose == step::OperatorPurpose::kAdapterAdd) return adapter_add(call);
  if (call.op.part == step::LayerPart::kKeyPositions) {
    return call.write_result(0, at::cat({call.read_operand(0), call.read_operand(1)}, 1));
  }
  if (call.has_operand(1)) return add_forward(call);
  call.write_result(0, call.read_operand(0) * scale_of(call));
}

/// Adds to the rows' gradient: that of keys and values that came round the ring, that of gates, or
/// that of Mamba's selected part.
void accumulate_forward(KernelCall& call) {
  const at::Tensor& added = call.read_operand(0);
  at::Tensor rows = call.read_operand(1);
  rows.narrow(1, first_column(call, added, rows), added.size(1)).add_(added);
  call.write_result(0, std::move(rows));
}

void accumulate_weight_gradient(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kHeldGradient)
    return accumulate_gradient(call.gradient(), call.read_operand(0));
  at::Tensor gradient = call.gradient();
  const at::Tensor& dx = call.read_operand(0);
  gradient.index_add_(0, rows_of_table(call, dx.size(0)), dx.to(gradient.scalar_type()));
}

}  // namespace stepwright::runtime
