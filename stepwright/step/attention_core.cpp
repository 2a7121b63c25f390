#include "stepwright/step/attention_core.h"

#include <algorithm>
#include <cmath>

namespace stepwright::step {
namespace {

bool fused(const StepBuildSettings& s) {
  return s.kernels.attention != cluster::AttentionKernel::kUnfused;
}

TensorId score_tensor(ModelBlockBuildContext& e, std::string_view name, const OperatorShape& shape,
                      DType dtype) {
  return e.out.tensor({.name = name,
                       .dtype = dtype,
                       .extents = {shape.batch * shape.heads, shape.queries, shape.keys}});
}

TensorId unfused_attention(ModelBlockBuildContext& e, TensorId qkv, const OperatorShape& shape) {
  const TensorId scores = score_tensor(e, "scores", shape, e.s.storage);
  e.out.add(computation(e, OperatorKind::kScores, e.forward, LayerPart::kScores, shape), {qkv},
            {scores});
  const TensorId probabilities = score_tensor(e, "probabilities", shape, e.s.storage);
  e.out.add(computation(e, OperatorKind::kSoftmax, e.forward, LayerPart::kSoftmax, shape), {scores},
            {probabilities});
  e.kept.set(KeptTensorRole::kProbabilities, probabilities);
  TensorId weights = probabilities;
  if (e.s.model->dropout > 0) {
    weights = score_tensor(e, "dropped", shape, e.s.storage);
    const TensorId mask = score_tensor(e, "mask", shape, DType::kInt8);
    e.out.add(
        computation(e, OperatorKind::kDropout, e.forward, LayerPart::kProbabilityDropout,
                    {.rows = shape.batch * shape.heads * shape.queries, .columns = shape.keys}),
        {probabilities}, {weights, mask});
    e.kept.set(KeptTensorRole::kProbabilityMask, mask);
    e.kept.set(KeptTensorRole::kDropped, weights);
  }
  const TensorId out = create_activation_tensor(e, "attention.out", shape.batch * shape.queries,
                                                shape.heads * shape.value_dim);
  e.out.add(computation(e, OperatorKind::kAttendValues, e.forward, LayerPart::kAttendValues, shape),
            {weights, qkv}, {out});
  return out;
}

TensorId unfused_attention_backward(ModelBlockBuildContext& e, TensorId d_out, TensorId qkv,
                                    const OperatorShape& shape) {
  const bool dropout = e.s.model->dropout > 0;
  const TensorId weights = tensor_kept_by_forward(
      e, dropout ? KeptTensorRole::kDropped : KeptTensorRole::kProbabilities);
  const TensorId d_qkv =
      create_activation_tensor(e, "gradient", e.out.at(qkv).extents[0], e.out.at(qkv).extents[1]);
  const TensorId d_scores = score_tensor(e, "gradient", shape, e.s.storage);
  const Phase phase = Phase::kDataGradient;
  e.out.add(
      computation(e, OperatorKind::kAttendValues, phase, LayerPart::kProbabilitiesGradient, shape),
      {d_out, qkv}, {d_scores});
  e.out.add(computation(e, OperatorKind::kAttendValues, phase, LayerPart::kValuesGradient, shape),
            {d_out, weights}, {d_qkv});
  if (dropout) {
    e.out.add(
        computation(e, OperatorKind::kDropout, phase, LayerPart::kProbabilityDropout,
                    {.rows = shape.batch * shape.heads * shape.queries, .columns = shape.keys}),
        {d_scores, tensor_kept_by_forward(e, KeptTensorRole::kProbabilityMask)}, {d_scores});
  }
  e.out.add(computation(e, OperatorKind::kSoftmax, phase, LayerPart::kSoftmax, shape),
            {d_scores, tensor_kept_by_forward(e, KeptTensorRole::kProbabilities)}, {d_scores});
  e.out.add(computation(e, OperatorKind::kScores, phase, LayerPart::kQueriesGradient, shape),
            {d_scores, qkv}, {d_qkv});
  e.out.add(computation(e, OperatorKind::kScores, phase, LayerPart::kKeysGradient, shape),
            {d_scores, qkv}, {d_qkv});
  return d_qkv;
}

}  // namespace

std::int64_t unmasked_query_key_pairs(std::int64_t length, const model::LayerClass& layer) {
  const std::int64_t reach = layer.window > 0 ? std::min(layer.window, length) : length;
  if (layer.bidirectional) return length * reach;
  if (layer.chunked) {
    const std::int64_t rest = length % reach;
    return length / reach * (reach * (reach + 1) / 2) + rest * (rest + 1) / 2;
  }
  return reach * (reach + 1) / 2 + (length - reach) * reach;
}

std::int64_t mean_sequence_query_key_pairs(const StepBuildSettings& s,
                                           const model::LayerClass& layer) {
  if (s.documents.empty()) return unmasked_query_key_pairs(s.length, layer);
  double pairs = 0;
  for (const auto& [length, count] : s.documents) {
    pairs += static_cast<double>(unmasked_query_key_pairs(length, layer)) * count;
  }
  return std::llround(pairs);
}

std::int64_t attended_pairs(const StepBuildSettings& s, model::LayerClass layer) {
  if (s.model->has_sparse_attention_indexer()) {
    const std::int64_t chosen = s.model->latent->index_top_k;
    layer.window = layer.window == 0 ? chosen : std::min(layer.window, chosen);
  }
  return mean_sequence_query_key_pairs(s, layer);
}

std::int64_t key_value_width(const StepBuildSettings& s) {
  return s.kv_heads() * (s.model->head_dim + s.model->value_head_elements());
}

std::int64_t query_key_value_width(const StepBuildSettings& s) {
  return s.heads() * s.model->head_dim + key_value_width(s);
}

std::int64_t attention_projection_width(const StepBuildSettings& s) {
  const std::int64_t gates =
      s.model->attention_gate ? s.heads() * s.model->value_head_elements() : 0;
  return query_key_value_width(s) + gates;
}

OperatorShape attention_operator_shape(const StepBuildSettings& s, std::int64_t queries,
                                       std::int64_t keys, std::int64_t head_cut,
                                       std::int64_t pairs) {
  return {.batch = s.batch,
          .heads = s.heads() / head_cut,
          .kv_heads = s.kv_heads() / head_cut,
          .queries = queries,
          .keys = keys,
          .head_dim = s.model->head_dim,
          .value_dim = s.model->value_head_elements(),
          .pairs = pairs};
}

TensorId attention_sink_weights(const ModelBlockBuildContext& e) {
  return e.s.model->sinks ? e.parameters : -1;
}

TensorId attention_sink_gradients(const ModelBlockBuildContext& e) {
  return e.s.model->sinks ? e.gradients : -1;
}

TensorId chosen_keys(ModelBlockBuildContext& e) {
  return e.s.model->has_sparse_attention_indexer()
             ? tensor_kept_by_forward(e, KeptTensorRole::kIndices)
             : -1;
}

TensorId append_local_attention(ModelBlockBuildContext& e, TensorId qkv,
                                const OperatorShape& shape) {
  if (!fused(e.s)) return unfused_attention(e, qkv, shape);
  const TensorId out = create_activation_tensor(e, "attention.out", shape.batch * shape.queries,
                                                shape.heads * shape.value_dim);
  const TensorId lse = create_activation_tensor(e, "log_sum_exp", e.s.exact,
                                                shape.batch * shape.queries, shape.heads);
  TensorId copy = -1;
  if (e.s.copies_attention_result) {
    copy = create_activation_tensor(e, "attention.copy", shape.batch * shape.queries,
                                    shape.heads * shape.value_dim);
    e.kept.set(KeptTensorRole::kProjectionInput, copy);
  }
  e.out.add(computation(e, OperatorKind::kAttention, e.forward, LayerPart::kAttentionCore, shape),
            {qkv, chosen_keys(e), attention_sink_weights(e)}, {out, lse, copy});
  e.kept.set(KeptTensorRole::kLogSumExp, lse);
  return out;
}

TensorId append_local_attention_backward(ModelBlockBuildContext& e, TensorId d_out, TensorId qkv,
                                         TensorId out, const OperatorShape& shape) {
  if (!fused(e.s)) return unfused_attention_backward(e, d_out, qkv, shape);
  const TensorId log_sum_exp = tensor_kept_by_forward(e, KeptTensorRole::kLogSumExp);
  const TemplateTensor& whole = e.out.at(qkv);
  const TensorId d_qkv =
      create_activation_tensor(e, "gradient", whole.extents[0], whole.extents[1]);
  e.out.add(computation(e, OperatorKind::kAttention, Phase::kDataGradient,
                        LayerPart::kAttentionCore, shape),
            {d_out, qkv, out, log_sum_exp, chosen_keys(e), attention_sink_weights(e)},
            {d_qkv, attention_sink_gradients(e)});
  return d_qkv;
}

namespace {

/// True if keys and values are copied for each head of queries.
bool expands_heads(const StepBuildSettings& s) {
  return s.expands_heads && !s.model->latent && !s.model->attention_gate;
}

/// Copies keys and values for each query head; in a backward, sums their gradients over the query
/// heads.
Operator head_copies(const ModelBlockBuildContext& e, Phase phase) {
  return {.kind = OperatorKind::kUnpack,
          .phase = phase,
          .dtype = e.s.storage,
          .shape = {.rows = e.s.tokens, .columns = 2 * e.s.heads() * e.s.model->head_dim},
          .part = LayerPart::kAttentionCore};
}

/// Returns queries, with keys and values copied for each query head.
TensorId expand_heads(ModelBlockBuildContext& e, TensorId qkv) {
  const TensorId expanded = create_activation_tensor(e, "attention.expanded", e.s.tokens,
                                                     3 * e.s.heads() * e.s.model->head_dim);
  e.out.add(head_copies(e, e.forward), {qkv}, {expanded});
  return expanded;
}

TensorId expand_heads_backward(ModelBlockBuildContext& e, TensorId d_expanded) {
  const std::int64_t width = (e.s.heads() + 2 * e.s.kv_heads()) * e.s.model->head_dim;
  const TensorId d_qkv = create_activation_tensor(e, "gradient", e.s.tokens, width);
  e.out.add(head_copies(e, Phase::kDataGradient), {d_expanded}, {d_qkv});
  return d_qkv;
}

}  // namespace

TensorId append_attention_core(ModelBlockBuildContext& e, TensorId qkv,
                               const model::LayerClass& layer) {
  if (expands_heads(e.s)) qkv = expand_heads(e, qkv);
  e.kept.set(KeptTensorRole::kQkv, qkv);
  if (e.s.context > 1) {
    switch (e.s.context_kind) {
      case plan::ContextKind::kRing: return ring_attention(e, qkv, layer);
      case plan::ContextKind::kAllGather: return gathered_attention(e, qkv, layer);
      case plan::ContextKind::kUlysses: return ulysses_attention(e, qkv, layer);
    }
  }
  return append_local_attention(
      e, qkv, attention_operator_shape(e.s, e.s.length, e.s.length, 1, attended_pairs(e.s, layer)));
}

TensorId append_attention_core_backward(ModelBlockBuildContext& e, TensorId d_out,
                                        const model::LayerClass& layer) {
  if (e.s.context > 1) {
    switch (e.s.context_kind) {
      case plan::ContextKind::kRing: return ring_attention_backward(e, d_out, layer);
      case plan::ContextKind::kAllGather: return gathered_attention_backward(e, d_out, layer);
      case plan::ContextKind::kUlysses: return ulysses_attention_backward(e, d_out, layer);
    }
  }
  const TensorId qkv = tensor_kept_by_forward(e, KeptTensorRole::kQkv);
  const TensorId out = tensor_kept_by_forward(e, KeptTensorRole::kAttentionOut);
  const TensorId d_qkv = append_local_attention_backward(
      e, d_out, qkv, out,
      attention_operator_shape(e.s, e.s.length, e.s.length, 1, attended_pairs(e.s, layer)));
  return expands_heads(e.s) ? expand_heads_backward(e, d_qkv) : d_qkv;
}

}  // namespace stepwright::step
