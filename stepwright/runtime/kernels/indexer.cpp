// Kernels of the indexer of sparse attention, which chooses the keys that each token attends to
// (DeepSeek-V3.2, section 2.1.1; huggingface/transformers models/deepseek_v32,
// `DeepseekV32Indexer`).
#include <algorithm>
#include <limits>

#include "stepwright/runtime/kernels/attention_math.h"
#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/runtime/kernels/top_k.h"

namespace stepwright::runtime {
namespace {

/// Returns rows of heads with their first dimensions rotated: [batch, heads, length, dim].
at::Tensor turned(const KernelCall& call, const at::Tensor& rows, std::int64_t heads) {
  const at::Tensor copy = rows.clone();
  if (has_rotary_embedding(call))
    apply_rotary_embedding(call, copy.view({rows.size(0), heads, -1}), 1);
  return split_rows_into_heads(copy, call.op.shape.batch, heads);
}

/// Returns the keys that each query of the layer may not see, whether chosen or not.
at::Tensor hidden(const KernelCall& call) {
  const at::Tensor positions = at::arange(call.op.shape.queries, call.rank.index_tensor_options());
  const at::Tensor& documents = call.batch->documents;
  const model::LayerClass layer = call.layer_class();
  return masked_attention_keys({.queries = positions,
                                .keys = positions,
                                .window = layer.window,
                                .chunked = layer.chunked,
                                .query_documents = documents,
                                .key_documents = documents});
}

}  // namespace

/// Chooses keys. Operands: queries of all heads, keys, weights of the heads.
void choose_keys(KernelCall& call) {
  const step::OperatorShape& s = call.op.shape;
  const auto exact = call.data_type_of_statistics();
  const at::Tensor queries = turned(call, call.read_operand(0), s.heads).to(exact);
  const at::Tensor keys = turned(call, call.read_operand(1), 1).to(exact);
  const at::Tensor weights =
      split_rows_into_heads(call.read_operand(2), s.batch, s.heads).to(exact);
  const at::Tensor by_head = at::matmul(queries, keys.transpose(-1, -2)).relu() * weights;
  const at::Tensor scores =
      by_head.sum(1, true).masked_fill(hidden(call), -std::numeric_limits<double>::infinity());
  const std::int64_t count = std::min(call.rank.setting.model->latent->index_top_k, s.keys);
  call.write_result(0, top_k_indices_of_rows(scores.reshape({-1, s.keys}), count).to(at::kInt));
}

/// Writes zero gradients: a choice has none, and the loss from which an indexer learns the
/// attention weights is not computed; its weights stay constant, as in transformers.
void choose_keys_backward(KernelCall& call) {
  for (std::size_t operand = 0; operand < 3; ++operand) {
    call.write_result(operand, at::zeros_like(call.read_operand(operand)));
  }
}

}  // namespace stepwright::runtime
