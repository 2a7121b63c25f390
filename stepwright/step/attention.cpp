#include "stepwright/step/attention_core.h"
#include "stepwright/step/blocks.h"

namespace stepwright {
namespace {

constexpr NormRole kQkNorm{Keep::kQkv, Keep::kQkStatistics, LayerPart::kQueryNorm,
                           Keep::kQueryNormCopies};

Product qkv_product(const Setting& s) {
  return {s.tokens, s.model->hidden, query_key_value_width(s), LayerPart::kQkv};
}

Product output_product(const Setting& s) {
  return {s.tokens, s.heads() * s.model->value_dim(), s.model->hidden, LayerPart::kAttentionOutput};
}

/// Elements per token whose position is rotated.
std::int64_t rotated_width(const Setting& s) {
  const double share = s.model->rotary_fraction;
  return static_cast<std::int64_t>(
      static_cast<double>((s.heads() + s.kv_heads()) * s.model->head_dim) * share);
}

void rotate(Emit& e, TensorId qkv, Phase phase) {
  if (e.s.model->position != Position::kRope) return;
  e.out.add(computation(e, OperatorKind::kRotary, phase, LayerPart::kRotary,
                        {.rows = e.s.tokens, .columns = rotated_width(e.s)}),
            {qkv}, {qkv});
}

/// Queries and keys normed per head (values pass through), in one tensor with the values.
TensorId norm_heads(Emit& e, TensorId qkv) {
  const Setting& s = e.s;
  const std::int64_t heads = s.heads() + s.kv_heads();
  const TensorId normed = activation(e, "attention.qk_normed", s.tokens, query_key_value_width(s));
  const TensorId stats = activation(e, "statistics", e.s.exact, s.tokens, heads);
  e.out.add({.kind = OperatorKind::kNorm,
             .phase = e.forward,
             .dtype = s.storage,
             .shape = {.rows = s.tokens * heads, .columns = s.model->head_dim},
             .part = kQkNorm.part,
             .purpose = Purpose::kHeadNorm,
             .parameter = e.out.parameter(kQkNorm.part)},
            {qkv, e.parameters}, {normed, stats});
  e.kept.set(Keep::kQkNormed, qkv);
  e.kept.set(Keep::kQkStatistics, stats);
  return normed;
}

TensorId norm_heads_backward(Emit& e, TensorId d_qkv) {
  const Setting& s = e.s;
  e.out.add({.kind = OperatorKind::kNorm,
             .phase = Phase::kDataGradient,
             .dtype = s.storage,
             .shape = {.rows = s.tokens * (s.heads() + s.kv_heads()), .columns = s.model->head_dim},
             .part = kQkNorm.part,
             .purpose = Purpose::kHeadNorm,
             .parameter = e.out.parameter(kQkNorm.part)},
            {d_qkv, kept(e, Keep::kQkNormed), kept(e, Keep::kQkStatistics), e.parameters},
            {d_qkv, e.gradients});
  return d_qkv;
}

TensorId project(Emit& e, TensorId normed) {
  if (e.s.model->latent) return latent_projections(e, normed);
  TensorId qkv = column_linear(e, normed, Keep::kAttentionLinearInput, qkv_product(e.s));
  if (e.s.model->qk_norm) qkv = norm_heads(e, qkv);
  rotate(e, qkv, e.forward);
  return qkv;
}

TensorId project_backward(Emit& e, TensorId d_qkv) {
  if (e.s.model->latent) return latent_projections_backward(e, d_qkv);
  rotate(e, d_qkv, Phase::kDataGradient);
  if (e.s.model->qk_norm) d_qkv = norm_heads_backward(e, d_qkv);
  return column_linear_backward(e, d_qkv, Keep::kAttentionLinearInput, qkv_product(e.s));
}

}  // namespace

TensorId attention_block(Emit& e, TensorId normed, std::int64_t window) {
  const TensorId qkv = project(e, normed);
  const TensorId out = attention_core(e, qkv, window);
  e.kept.set(Keep::kAttentionOut, out);
  end_module(e, Module::kCoreAttention, out);
  return linear(e, out, output_product(e.s));
}

TensorId attention_block_backward(Emit& e, TensorId dy, std::int64_t window) {
  const Product output = output_product(e.s);
  const TensorId d_out = linear_data_gradient(e, dy, output);
  linear_weight_gradient(e, dy, kept(e, Keep::kAttentionOut), output);
  return project_backward(e, attention_core_backward(e, d_out, window));
}

}  // namespace stepwright
