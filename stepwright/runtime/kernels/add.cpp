// Kernels that sum rows, or add learned positions to them.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// Returns the scale of a branch that is added to the residual stream; 1 for other sums.
double scale_of(const Call& call) {
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
std::int64_t first_column(const Call& call, const at::Tensor& added, const at::Tensor& rows) {
  if (is_of_selection(call.op.part)) return 0;
  if (call.op.part == step::LayerPart::kAttentionGate) return rows.size(1) - added.size(1);
  return call.rank.setting.heads() * call.rank.setting.model->head_dim;
}

/// Returns the rows of the learned table of positions that the call uses.
at::Tensor rows_of_table(const Call& call, std::int64_t rows) {
  const std::int64_t first = call.rank.setting.model->first_position;
  return first == 0 ? call.positions(rows) : call.positions(rows) + first;
}

}  // namespace

void add_forward(Call& call) {
  if (call.op.part == step::LayerPart::kMultiTokenJoin) {
    return call.write(0, at::cat({call.read(0), call.read(1)}, 1));
  }
  if (call.op.purpose == step::Purpose::kPartGradient) return part_row_gradient(call);
  if (call.op.purpose == step::Purpose::kAdapterScale) return adapter_scale(call);
  if (call.op.purpose == step::Purpose::kAdapterAdd) return adapter_add(call);
  if (call.op.parameter < 0) {
    return call.write(0, at::add(call.read(0), call.read(1), scale_of(call)));
  }
  at::Tensor x = call.read(0);
  x.add_(call.weight().index_select(0, rows_of_table(call, x.size(0))));
  call.write(0, std::move(x));
}

/// Computes the gradient of a branch that was added; of latent rows, including the columns after
/// them; of joined rows; or of this rank's columns of a tensor gathered by tensor ranks.
void add_backward(Call& call) {
  if (call.op.part == step::LayerPart::kMultiTokenJoin) {
    const std::int64_t half = call.read(0).size(1) / 2;
    call.write(0, call.read(0).narrow(1, 0, half));
    return call.write(1, call.read(0).narrow(1, half, half));
  }
  if (call.op.part == step::LayerPart::kMultiTokenProjection) {
    const std::int64_t columns = call.op.shape.columns;
    return call.write(0, call.read(0).narrow(1, call.rank.place.tensor * columns, columns));
  }
  if (call.op.purpose == step::Purpose::kAdapterScale) return adapter_scale(call);
  if (call.op.purpose == step::Purpose::kAdapterAdd) return adapter_add(call);
  if (call.op.part == step::LayerPart::kKeyPositions) {
    return call.write(0, at::cat({call.read(0), call.read(1)}, 1));
  }
  if (call.has(1)) return add_forward(call);
  call.write(0, call.read(0) * scale_of(call));
}

/// Adds to the rows' gradient: that of keys and values that came round the ring, that of gates, or
/// that of Mamba's selected part.
void accumulate_forward(Call& call) {
  const at::Tensor& added = call.read(0);
  at::Tensor rows = call.read(1);
  rows.narrow(1, first_column(call, added, rows), added.size(1)).add_(added);
  call.write(0, std::move(rows));
}

void accumulate_weight_gradient(Call& call) {
  if (call.op.purpose == step::Purpose::kHeldGradient)
    return accumulate_gradient(call.gradient(), call.read(0));
  at::Tensor gradient = call.gradient();
  const at::Tensor& dx = call.read(0);
  gradient.index_add_(0, rows_of_table(call, dx.size(0)), dx.to(gradient.scalar_type()));
}

}  // namespace stepwright::runtime
