#include <algorithm>

#include "stepwright/step/attention_core.h"
#include "stepwright/step/blocks.h"

namespace stepwright::step {
namespace {

// Down projections are replicated on every tensor rank and multiply the rows of the residual
// stream; under sequence parallelism only the narrow latent rows are gathered.
constexpr NormTensorNames kQueryNorm{KeptTensorRole::kQueryDown, KeptTensorRole::kLatentStatistics,
                                     LayerPart::kQueryNorm, KeptTensorRole::kQueryNormCopies};
constexpr NormTensorNames kKeyValueNorm{KeptTensorRole::kKeyValueDown,
                                        KeptTensorRole::kQkStatistics, LayerPart::kKeyValueNorm,
                                        KeptTensorRole::kKeyValueNormCopies};

struct LatentSizes {
  std::int64_t query_rank, kv_rank, rope, query_width, kv_width;
};

LatentSizes sizes(const StepBuildSettings& s) {
  const model::LatentAttention& latent = *s.model->latent;
  return {latent.query_rank, latent.kv_rank, latent.rope_head_dim, s.heads() * s.model->head_dim,
          s.heads() * (latent.nope_head_dim + latent.value_head_dim)};
}

MatrixProduct query_down(const StepBuildSettings& s) {
  return {s.rows, s.model->hidden, sizes(s).query_rank, LayerPart::kQueryDown};
}
MatrixProduct query_up(const StepBuildSettings& s) {
  return {s.tokens, sizes(s).query_rank, sizes(s).query_width, LayerPart::kQueryUp};
}
MatrixProduct query_direct(const StepBuildSettings& s) {
  return {s.tokens, s.model->hidden, sizes(s).query_width, LayerPart::kQuery};
}
MatrixProduct key_value_down(const StepBuildSettings& s) {
  return {s.rows, s.model->hidden, sizes(s).kv_rank + sizes(s).rope, LayerPart::kKeyValueDown};
}
MatrixProduct key_value_up(const StepBuildSettings& s) {
  return {s.tokens, sizes(s).kv_rank, sizes(s).kv_width, LayerPart::kKeyValueUp};
}

constexpr NormTensorNames kIndexNorm{KeptTensorRole::kIndexKeyInput,
                                     KeptTensorRole::kIndexStatistics, LayerPart::kIndexNorm,
                                     KeptTensorRole::kIndexCopies};

MatrixProduct index_query(const StepBuildSettings& s) {
  const model::LatentAttention& latent = *s.model->latent;
  return {s.tokens, latent.query_rank, latent.index_heads * latent.index_head_dim,
          LayerPart::kIndexQuery};
}
MatrixProduct index_key(const StepBuildSettings& s) {
  return {s.tokens, s.model->hidden, s.model->latent->index_head_dim, LayerPart::kIndexKey};
}
MatrixProduct index_weights(const StepBuildSettings& s) {
  return {s.tokens, s.model->hidden, s.model->latent->index_heads, LayerPart::kIndexWeights};
}

/// Returns the operator that scores every key that a token may see, weighted over the indexer's
/// heads.
Operator index_scores(const ModelBlockBuildContext& e, Phase phase) {
  const model::LatentAttention& latent = *e.s.model->latent;
  return computation(e, OperatorKind::kAttention, phase, LayerPart::kIndexScores,
                     {.batch = e.s.batch,
                      .heads = latent.index_heads,
                      .kv_heads = 1,
                      .queries = e.s.length,
                      .keys = e.s.length,
                      .head_dim = latent.index_head_dim,
                      .value_dim = 1,
                      .pairs = mean_sequence_query_key_pairs(e.s, {})});
}

TensorId index_linear(ModelBlockBuildContext& e, TensorId x, const MatrixProduct& product,
                      KeptTensorRole result) {
  const TensorId y = append_matrix_product(e, x, product);
  e.kept.set(result, y);
  return y;
}

/// Writes the choice of the keys that each token attends to. Every tensor rank chooses for all
/// tokens.
void choose_keys(ModelBlockBuildContext& e, TensorId normed, TensorId latent) {
  const model::LatentAttention& sizes = *e.s.model->latent;
  const TensorId low = enter_tensor_parallel_region(
      e, latent, {sizes.query_rank, LayerPart::kIndexQuery, e.forward});
  const TensorId rows =
      enter_tensor_parallel_region(e, normed, {e.s.model->hidden, LayerPart::kIndexKey, e.forward});
  e.kept.set(KeptTensorRole::kIndexLatent, low);
  e.kept.set(KeptTensorRole::kIndexInput, rows);
  const TensorId q = index_linear(e, low, index_query(e.s), KeptTensorRole::kIndexQueries);
  const TensorId k = norm(e, append_matrix_product(e, rows, index_key(e.s)),
                          {e.s.tokens, sizes.index_head_dim}, kIndexNorm);
  e.kept.set(KeptTensorRole::kIndexKeys, k);
  const TensorId w = index_linear(e, rows, index_weights(e.s), KeptTensorRole::kIndexWeights);
  const std::int64_t chosen = std::min(sizes.index_top_k, e.s.length);
  const TensorId indices =
      create_activation_tensor(e, "indices", DType::kInt32, e.s.tokens, chosen);
  e.out.add(index_scores(e, e.forward), {q, k, w}, {indices});
  e.kept.set(KeptTensorRole::kIndices, indices);
}

/// Writes the indexer's backward. It learns attention's weights by a loss of its own, so no
/// gradient flows back into the layer (DeepSeek-V3.2, section 2.1.1).
void choose_keys_backward(ModelBlockBuildContext& e) {
  const model::LatentAttention& sizes = *e.s.model->latent;
  const TensorId d_q =
      create_activation_tensor(e, "gradient", e.s.tokens, index_query(e.s).columns);
  const TensorId d_k = create_activation_tensor(e, "gradient", e.s.tokens, sizes.index_head_dim);
  const TensorId d_w = create_activation_tensor(e, "gradient", e.s.tokens, sizes.index_heads);
  e.out.add(index_scores(e, Phase::kDataGradient),
            {tensor_kept_by_forward(e, KeptTensorRole::kIndexQueries),
             tensor_kept_by_forward(e, KeptTensorRole::kIndexKeys),
             tensor_kept_by_forward(e, KeptTensorRole::kIndexWeights),
             tensor_kept_by_forward(e, KeptTensorRole::kIndices)},
            {d_q, d_k, d_w});
  append_matrix_product_weight_gradient(
      e, d_q, tensor_kept_by_forward(e, KeptTensorRole::kIndexLatent), index_query(e.s));
  const TensorId rows = tensor_kept_by_forward(e, KeptTensorRole::kIndexInput);
  const TensorId d_rows =
      append_norm_backward(e, d_k, {e.s.tokens, sizes.index_head_dim}, kIndexNorm);
  append_matrix_product_weight_gradient(e, d_rows, rows, index_key(e.s));
  append_matrix_product_weight_gradient(e, d_w, rows, index_weights(e.s));
}

TensorId queries(ModelBlockBuildContext& e, TensorId normed) {
  if (sizes(e.s).query_rank == 0) {
    return append_column_parallel_product(e, normed, KeptTensorRole::kAttentionLinearInput,
                                          query_direct(e.s));
  }
  const TensorId down = append_matrix_product_with_lora(e, normed, query_down(e.s),
                                                        KeptTensorRole::kAttentionLinearInput);
  const TensorId latent = norm(e, down, {e.s.rows, sizes(e.s).query_rank}, kQueryNorm);
  if (e.s.model->has_sparse_attention_indexer()) choose_keys(e, normed, latent);
  return append_column_parallel_product(e, latent, KeptTensorRole::kQueryDownNormed, query_up(e.s));
}

Operator assembly(const ModelBlockBuildContext& e, Phase phase) {
  return computation(e, OperatorKind::kRotary, phase, LayerPart::kRotary,
                     {.rows = e.s.tokens, .columns = query_key_value_width(e.s)});
}

/// Gather of the rotated columns of the keys, which follow the latent rows' columns: every tensor
/// rank needs them for all tokens (Megatron-Core transformer/multi_latent_attention.py,
/// `k_pos_emb`).
TensorParallelRegionCrossing key_positions(const ModelBlockBuildContext& e, Phase phase) {
  return {sizes(e.s).rope, LayerPart::kKeyPositions, phase};
}

/// Gradients of the tensors from which queries, keys and values are assembled.
struct Apart {
  TensorId key_values = -1;
  /// Gradient of the rotated key columns for this rank's rows, summed over tensor ranks.
  TensorId key_positions = -1;
};

/// Splits `d_qkv` into the gradients of its parts; the gradients of queries stay in its first
/// columns.
Apart take_apart(ModelBlockBuildContext& e, TensorId d_qkv) {
  const std::int64_t rope = sizes(e.s).rope;
  const TensorId key_values =
      create_activation_tensor(e, "gradient", e.s.tokens, sizes(e.s).kv_width);
  const TensorId positions = create_activation_tensor(e, "gradient", e.s.tokens, rope);
  e.out.add(assembly(e, Phase::kDataGradient), {d_qkv}, {d_qkv, key_values, positions});
  return {key_values,
          exit_tensor_parallel_region(e, positions, key_positions(e, Phase::kDataGradient))};
}

TensorId queries_backward(ModelBlockBuildContext& e, TensorId d_qkv) {
  if (sizes(e.s).query_rank == 0) {
    return append_column_parallel_product_backward(e, d_qkv, KeptTensorRole::kAttentionLinearInput,
                                                   query_direct(e.s));
  }
  const TensorId d_latent = append_column_parallel_product_backward(
      e, d_qkv, KeptTensorRole::kQueryDownNormed, query_up(e.s));
  const TensorId d_down =
      append_norm_backward(e, d_latent, {e.s.rows, sizes(e.s).query_rank}, kQueryNorm);
  return append_matrix_product_backward(e, d_down, KeptTensorRole::kAttentionLinearInput,
                                        query_down(e.s));
}

TensorId key_values_backward(ModelBlockBuildContext& e, const Apart& d) {
  const TensorId d_normed = append_column_parallel_product_backward(
      e, d.key_values, KeptTensorRole::kKeyValueDownNormed, key_value_up(e.s));
  const TensorId d_latent =
      append_norm_backward(e, d_normed, {e.s.rows, sizes(e.s).kv_rank}, kKeyValueNorm);
  const std::int64_t width = key_value_down(e.s).columns;
  const TensorId d_down = create_activation_tensor(e, "gradient", e.s.rows, width);
  e.out.add(computation(e, OperatorKind::kAdd, Phase::kDataGradient, LayerPart::kKeyPositions,
                        {.rows = e.s.rows, .columns = width}),
            {d_latent, d.key_positions}, {d_down});
  return append_matrix_product_backward(e, d_down, KeptTensorRole::kKeyValueUp,
                                        key_value_down(e.s));
}

}  // namespace

TensorId append_latent_projections(ModelBlockBuildContext& e, TensorId normed) {
  const TensorId q = queries(e, normed);
  // The key-value projection keeps the sharded input, whatever the query projection keeps.
  const TensorId down =
      append_matrix_product_with_lora(e, normed, key_value_down(e.s), KeptTensorRole::kKeyValueUp);
  const TensorId latent = norm(e, down, {e.s.rows, sizes(e.s).kv_rank}, kKeyValueNorm);
  const TensorId kv = append_column_parallel_product(e, latent, KeptTensorRole::kKeyValueDownNormed,
                                                     key_value_up(e.s));
  const TensorId positions = enter_tensor_parallel_region(e, down, key_positions(e, e.forward));
  const TensorId qkv =
      create_activation_tensor(e, "attention.qkv", e.s.tokens, query_key_value_width(e.s));
  e.out.add(assembly(e, e.forward), {q, kv, positions}, {qkv});
  return qkv;
}

TensorId append_latent_projections_backward(ModelBlockBuildContext& e, TensorId d_qkv) {
  if (e.s.model->has_sparse_attention_indexer()) choose_keys_backward(e);
  const Apart d = take_apart(e, d_qkv);
  const TensorId d_query = queries_backward(e, d_qkv);
  const TensorId d_key_value = key_values_backward(e, d);
  const TensorId dx = create_activation_tensor(e, "gradient", e.s.rows, e.s.model->hidden);
  e.out.add(computation(e, OperatorKind::kAdd, Phase::kDataGradient, LayerPart::kLatentGradient,
                        {.rows = e.s.rows, .columns = e.s.model->hidden}),
            {d_query, d_key_value}, {dx});
  return dx;
}

}  // namespace stepwright::step
