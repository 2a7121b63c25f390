// Kernels that look up token rows. With tensor parallelism a rank has a part of the vocabulary, and
// leaves the rows of tokens of other parts zero.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

const at::Tensor& tokens(const KernelCall& call) {
  const std::int64_t multi_token_depth = call.multi_token_depth();
  return multi_token_depth > 0
             ? call.batch->embedded_ahead.at(static_cast<std::size_t>(multi_token_depth - 1))
             : call.batch->tokens;
}

/// Returns token numbers counted from the first that this rank holds.
at::Tensor local_tokens(const KernelCall& call) {
  return tokens(call) -
         step::vocabulary_shard_index(call.rank.setting, call.rank.place) * call.op.shape.inner;
}

at::Tensor held(const KernelCall& call, const at::Tensor& local) {
  return local.ge(0).logical_and(local.lt(call.op.shape.inner));
}

at::Tensor scaled(const KernelCall& call, const at::Tensor& rows) {
  const double scale = call.rank.setting.model->embedding_scale;
  return scale == 1 ? rows : rows * scale;
}

/// Returns rows plus sines and cosines of their tokens' positions; of the ranks that share the
/// vocabulary, the first adds them.
at::Tensor with_waves(const KernelCall& call, const at::Tensor& rows) {
  const model::ModelArchitecture& model = *call.rank.setting.model;
  const bool first = step::vocabulary_shard_index(call.rank.setting, call.rank.place) == 0;
  if (model.position != model::PositionEncoding::kSinusoidal || !first) return rows;
  const auto exact = call.rank.tensor_options_of(call.rank.setting.exact);
  const std::int64_t pairs = model.hidden / 2;
  const at::Tensor series =
      at::pow(model.rotary_base, at::arange(pairs, exact) / -static_cast<double>(pairs));
  const at::Tensor positions = call.batch->positions.to(exact.dtype()) + model.first_position;
  const at::Tensor angles = at::outer(positions, series);
  const at::Tensor waves = at::cat({at::sin(angles), at::cos(angles)}, 1);
  return rows + at::constant_pad_nd(waves, {0, model.hidden % 2}).to(rows.scalar_type());
}

}  // namespace

void embedding_forward(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kTargetRows)
    return read_target_rows_of_output_table(call);
  const at::Tensor table = call.operator_weight();
  if (!step::splits_vocabulary(call.rank.setting)) {
    call.write_result(0, with_waves(call, scaled(call, table.index_select(0, tokens(call)))));
    return;
  }
  const at::Tensor local = local_tokens(call);
  const at::Tensor here = held(call, local);
  at::Tensor rows = table.index_select(0, local.clamp(0, call.op.shape.inner - 1));
  rows.mul_(here.unsqueeze(1));
  call.write_result(0, with_waves(call, scaled(call, rows)));
}

void embedding_weight_gradient(KernelCall& call) {
  at::Tensor gradient = call.gradient();
  at::Tensor rows = scaled(call, call.read_operand(0).to(gradient.scalar_type()));
  at::Tensor local = local_tokens(call);
  if (step::splits_vocabulary(call.rank.setting)) {
    rows = rows * held(call, local).unsqueeze(1);
    local = local.clamp(0, call.op.shape.inner - 1);
  }
  gradient.index_add_(0, local, rows);
}

}  // namespace stepwright::runtime
