// Dropout of rows of the residual stream, or of rows that are added to it; the mask is kept for the
// backward.
#include "stepwright/runtime/kernels/dropout_mask.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

DropoutPlace place_of(step::LayerPart part) {
  switch (part) {
    case step::LayerPart::kAttentionDropout: return DropoutPlace::kAfterAttention;
    case step::LayerPart::kMlpDropout: return DropoutPlace::kAfterMlp;
    default: return DropoutPlace::kEmbedding;
  }
}

double kept_scale(const Call& call) { return 1 / (1 - call.rank.setting.model->dropout); }

}  // namespace

void dropout_forward(Call& call) {
  if (call.op.purpose == step::Purpose::kAdapterDown) return adapter_dropout(call);
  at::Tensor x = call.read(0);
  const std::int64_t width = x.size(1);
  at::Tensor kept =
      dropout_keep_mask(dropout_generator_inputs(call, place_of(call.op.part)),
                        {.rows = call.places(x.size(0)),
                         .columns = at::arange(width, call.rank.index_tensor_options()),
                         .width = width});
  x.mul_(kept).mul_(kept_scale(call));
  call.write(0, std::move(x));
  call.write(1, std::move(kept));
}

void dropout_backward(Call& call) {
  if (call.op.purpose == step::Purpose::kAdapterDown) return adapter_dropout_backward(call);
  const bool embedded = place_of(call.op.part) == DropoutPlace::kEmbedding;
  const double of_branch = embedded ? 1 : call.rank.setting.model->residual_scale;
  call.write(0, (call.read(0) * call.read(1)).mul_(kept_scale(call) * of_branch));
}

}  // namespace stepwright::runtime
