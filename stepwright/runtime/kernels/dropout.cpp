// Dropout of rows of the residual stream, or of rows that are added to it; the mask is kept for the
// backward.
#include "stepwright/runtime/kernels/dropout_mask.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

BlockDropoutKind place_of(step::LayerPart part) {
  switch (part) {
    case step::LayerPart::kAttentionDropout: return BlockDropoutKind::kAfterAttention;
    case step::LayerPart::kMlpDropout: return BlockDropoutKind::kAfterMlp;
    default: return BlockDropoutKind::kEmbedding;
  }
}

double kept_scale(const KernelCall& call) { return 1 / (1 - call.rank.setting.model->dropout); }

}  // namespace

void dropout_forward(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kAdapterDown) return adapter_dropout(call);
  at::Tensor x = call.read_operand(0);
  const std::int64_t width = x.size(1);
  at::Tensor kept =
      dropout_keep_mask(dropout_generator_inputs(call, place_of(call.op.part)),
                        {.rows = call.token_indices_in_global_batch(x.size(0)),
                         .columns = at::arange(width, call.rank.index_tensor_options()),
                         .width = width});
  x.mul_(kept).mul_(kept_scale(call));
  call.write_result(0, std::move(x));
  call.write_result(1, std::move(kept));
}

void dropout_backward(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kAdapterDown) return adapter_dropout_backward(call);
  const bool embedded = place_of(call.op.part) == BlockDropoutKind::kEmbedding;
  const double of_branch = embedded ? 1 : call.rank.setting.model->residual_scale;
  call.write_result(
      0, (call.read_operand(0) * call.read_operand(1)).mul_(kept_scale(call) * of_branch));
}

}  // namespace stepwright::runtime
