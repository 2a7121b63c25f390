#include "stepwright/step/attention_core.h"
#include "stepwright/step/blocks.h"

namespace stepwright::step {
namespace {

constexpr NormTensorNames kQkNorm{KeptTensorRole::kQkv, KeptTensorRole::kQkStatistics,
                                  LayerPart::kQueryNorm, KeptTensorRole::kQueryNormCopies};

/// Elements per token of queries, keys and values of all heads of the model.
std::int64_t whole_projection_width(const StepBuildSettings& s) {
  const model::ModelArchitecture& m = *s.model;
  return m.heads * m.head_dim + m.kv_heads * (m.head_dim + m.value_head_elements());
}

MatrixProduct qkv_product(const StepBuildSettings& s) {
  const std::int64_t width =
      s.gathers_heads() ? whole_projection_width(s) / s.tensor : attention_projection_width(s);
  MatrixProduct product{s.tokens, s.model->hidden, width, LayerPart::kQkv};
  if (!s.kernels.fused_qkv) product.parts = 3;
  return product;
}

MatrixProduct output_product(const StepBuildSettings& s) {
  return {s.tokens, s.heads() * s.model->value_head_elements(), s.model->hidden,
          LayerPart::kAttentionOutput};
}

/// Elements per token that the rotary embedding rotates.
std::int64_t rotated_width(const StepBuildSettings& s) {
  const double share = s.model->rotary_fraction;
  return static_cast<std::int64_t>(
      static_cast<double>((s.heads() + s.kv_heads()) * s.model->head_dim) * share);
}

void rotate(ModelBlockBuildContext& e, TensorId qkv, Phase phase, const model::LayerClass& layer) {
  if (e.s.model->position != model::PositionEncoding::kRope || !layer.rotated) return;
  Operator rotary = computation(e, OperatorKind::kRotary, phase, LayerPart::kRotary,
                                {.rows = e.s.tokens, .columns = rotated_width(e.s)});
  if (e.s.scaled_rotary_apart) rotary.purpose = OperatorPurpose::kScaledRotary;
  e.out.add(rotary, {qkv}, {qkv});
}

bool norms_whole_width(const StepBuildSettings& s) {
  return s.model->qk_norm == model::QkNorm::kWhole;
}

/// Shape over which queries and keys are normed: head by head, or all heads of queries and all
/// heads of keys together.
OperatorShape normed_heads(const StepBuildSettings& s) {
  if (!norms_whole_width(s)) {
    return {.rows = s.tokens * (s.heads() + s.kv_heads()), .columns = s.model->head_dim};
  }
  return {.rows = s.tokens, .columns = (s.heads() + s.kv_heads()) * s.model->head_dim};
}

Operator head_norm(const ModelBlockBuildContext& e, Phase phase, OperatorPurpose purpose) {
  return {.kind = OperatorKind::kNorm,
          .phase = phase,
          .dtype = e.s.storage,
          .shape = normed_heads(e.s),
          .part = kQkNorm.part,
          .purpose = purpose,
          .parameter = e.out.parameter_of_layer_part(kQkNorm.part)};
}

/// Sums per token that a norm (or its gradient) needs: the sum of squares, and for a LayerNorm over
/// all heads also the sum of values.
std::int64_t numbers_of_norm(const StepBuildSettings& s) {
  return norms_whole_width(s) && s.model->norm == model::Norm::kLayer ? 2 : 1;
}

/// Writes the all-reduce of the sums that a norm over all heads needs, as each tensor rank holds
/// some heads: a few numbers per token for queries and for keys, forward and backward. Returns -1
/// if the norm needs no such sums.
TensorId shared_sums(ModelBlockBuildContext& e, TensorId first, TensorId second, Phase phase) {
  if (!norms_whole_width(e.s) || !e.s.tensor_parallel()) return -1;
  const TensorId sums =
      create_activation_tensor(e, "sums", e.s.exact, e.s.tokens, 2 * numbers_of_norm(e.s));
  e.out.add(head_norm(e, phase, OperatorPurpose::kHeadSums), {first, second, e.parameters}, {sums});
  append_all_reduce(e, ParallelismScheme::kTensor, sums, phase, kQkNorm.part);
  return sums;
}

/// Writes the norm of queries and keys; returns them in one tensor with the unchanged values.
TensorId norm_heads(ModelBlockBuildContext& e, TensorId qkv) {
  const StepBuildSettings& s = e.s;
  const std::int64_t statistics =
      norms_whole_width(s) ? 2 * numbers_of_norm(s) : s.heads() + s.kv_heads();
  const TensorId sums = shared_sums(e, qkv, -1, e.forward);
  const TensorId normed =
      create_activation_tensor(e, "attention.qk_normed", s.tokens, attention_projection_width(s));
  const TensorId stats = create_activation_tensor(e, "statistics", e.s.exact, s.tokens, statistics);
  TensorId copies = -1;
  if (!s.kernels.fused_norm) {
    const std::int64_t count = kept_bytes_factor_of_unfused_norm(
        s, is_block_parameter_trained(e, e.out.parameter_of_layer_part(kQkNorm.part)));
    copies = e.out.tensor(
        {.name = "copies",
         .dtype = s.storage,
         .extents = {s.tokens, (s.heads() + s.kv_heads()) * s.model->head_dim, count}});
  }
  e.out.add(head_norm(e, e.forward, OperatorPurpose::kHeadNorm), {qkv, sums, e.parameters},
            {normed, stats, copies});
  e.kept.set(KeptTensorRole::kQkNormed, copies >= 0 ? copies : qkv);
  e.kept.set(KeptTensorRole::kQkStatistics, stats);
  return normed;
}

TensorId norm_heads_backward(ModelBlockBuildContext& e, TensorId d_qkv) {
  const Phase phase = Phase::kDataGradient;
  const TensorId qkv = tensor_kept_by_forward(e, KeptTensorRole::kQkNormed);
  const TensorId sums = shared_sums(e, d_qkv, qkv, phase);
  e.out.add(
      head_norm(e, phase, OperatorPurpose::kHeadNorm),
      {d_qkv, qkv, tensor_kept_by_forward(e, KeptTensorRole::kQkStatistics), sums, e.parameters},
      {d_qkv, parameter_gradient_tensor(e, e.out.parameter_of_layer_part(kQkNorm.part))});
  return d_qkv;
}

Operator gate(const ModelBlockBuildContext& e, Phase phase) {
  Operator op = computation(e, OperatorKind::kActivation, phase, LayerPart::kAttentionGate,
                            {.rows = e.s.tokens, .columns = output_product(e.s).inner});
  op.gated = true;
  op.purpose = OperatorPurpose::kAttentionGate;
  op.parameter = e.out.parameter_of_layer_part(LayerPart::kAttentionGate);
  return op;
}

/// Returns `block` (the layer's parameters or their gradients) if attention gates have biases; else
/// -1.
TensorId biases_of_gates(const ModelBlockBuildContext& e, TensorId block) {
  return e.s.model->gate_bias ? block : TensorId{-1};
}

/// Multiplies the core's result by the sigmoid of the gates, which follow queries, keys and values
/// in one tensor.
TensorId gate_result(ModelBlockBuildContext& e, TensorId out) {
  if (!e.s.model->attention_gate) return out;
  const TensorId gated =
      create_activation_tensor(e, "attention.gated", e.s.tokens, output_product(e.s).inner);
  e.out.add(gate(e, e.forward),
            {out, e.kept.get(KeptTensorRole::kQkv), biases_of_gates(e, e.parameters)}, {gated});
  return gated;
}

struct GateGradients {
  TensorId out = -1;
  TensorId gates = -1;
};

GateGradients gate_backward(ModelBlockBuildContext& e, TensorId d_gated) {
  if (!e.s.model->attention_gate) return {.out = d_gated};
  const std::int64_t width = output_product(e.s).inner;
  const GateGradients d{create_activation_tensor(e, "gradient", e.s.tokens, width),
                        create_activation_tensor(e, "gradient", e.s.tokens, width)};
  e.out.add(gate(e, Phase::kDataGradient),
            {d_gated, tensor_kept_by_forward(e, KeptTensorRole::kAttentionOut),
             tensor_kept_by_forward(e, KeptTensorRole::kQkv), biases_of_gates(e, e.parameters)},
            {d.out, d.gates, biases_of_gates(e, e.gradients)});
  return d;
}

/// Writes the gradients of the gates after those of queries, keys and values in one tensor.
void join_gates(ModelBlockBuildContext& e, TensorId d_qkv, TensorId d_gates) {
  if (d_gates < 0) return;
  e.out.add(
      computation(e, OperatorKind::kAccumulate, Phase::kDataGradient, LayerPart::kAttentionGate,
                  {.rows = e.s.tokens, .columns = output_product(e.s).inner}),
      {d_gates, d_qkv}, {d_qkv});
}

Operator head_copy(const ModelBlockBuildContext& e, Phase phase, std::int64_t columns) {
  return computation(e, OperatorKind::kUnpack, phase, LayerPart::kQkv,
                     {.rows = e.s.tokens, .columns = columns});
}

Operator head_message(const ModelBlockBuildContext& e, OperatorKind kind, Phase phase) {
  return {.kind = kind,
          .phase = phase,
          .scheme = ParallelismScheme::kTensor,
          .group = plan::CommunicatorKind::kTensor,
          .dtype = e.s.storage,
          .payload_elements = e.s.tokens * whole_projection_width(e.s),
          .part = LayerPart::kQkv};
}

/// Returns the queries, keys and values of this rank's heads. Where tensor ranks outnumber the
/// key-value heads, they gather the results of all ranks, join the parts' columns and copy out
/// their own heads, as Megatron-Core does (NVIDIA/Megatron-LM core 0.16
/// megatron/core/transformer/attention.py, get_query_key_value_tensors;
/// megatron/core/tensor_parallel/mappings.py, _gather_along_last_dim).
TensorId gather_heads(ModelBlockBuildContext& e, TensorId part) {
  if (!e.s.gathers_heads()) return part;
  const std::int64_t width = whole_projection_width(e.s);
  const TensorId whole = create_message_buffer(e, "gathered", e.s.tokens, width);
  e.out.add(head_message(e, OperatorKind::kAllGather, e.forward), {part}, {whole});
  e.out.add(head_copy(e, e.forward, width), {whole}, {whole});
  const std::int64_t own_width = attention_projection_width(e.s);
  const TensorId own = create_activation_tensor(e, "attention.own_heads", e.s.tokens, own_width);
  e.out.add(head_copy(e, e.forward, own_width), {whole}, {own});
  return own;
}

/// Returns the gradient of this rank's part of the projection: all ranks' gradients of all heads,
/// reduced and scattered.
TensorId gather_heads_backward(ModelBlockBuildContext& e, TensorId d_own) {
  if (!e.s.gathers_heads()) return d_own;
  const Phase phase = Phase::kDataGradient;
  const std::int64_t width = whole_projection_width(e.s);
  const TensorId whole = create_message_buffer(e, "gradient", e.s.tokens, width);
  e.out.add(head_copy(e, phase, width), {d_own}, {whole});
  e.out.add(head_copy(e, phase, width), {whole}, {whole});
  const TensorId part = create_activation_tensor(e, "reduced", e.s.tokens, width / e.s.tensor);
  e.out.add(head_message(e, OperatorKind::kReduceScatter, phase), {whole}, {part});
  return part;
}

TensorId project(ModelBlockBuildContext& e, TensorId normed, const model::LayerClass& layer) {
  if (e.s.model->latent) return append_latent_projections(e, normed);
  TensorId qkv = append_column_parallel_product(e, normed, KeptTensorRole::kAttentionLinearInput,
                                                qkv_product(e.s));
  qkv = gather_heads(e, qkv);
  if (e.s.model->qk_norm != model::QkNorm::kNone) qkv = norm_heads(e, qkv);
  rotate(e, qkv, e.forward, layer);
  return qkv;
}

TensorId project_backward(ModelBlockBuildContext& e, TensorId d_qkv,
                          const model::LayerClass& layer) {
  if (e.s.model->latent) return append_latent_projections_backward(e, d_qkv);
  rotate(e, d_qkv, Phase::kDataGradient, layer);
  if (e.s.model->qk_norm != model::QkNorm::kNone) d_qkv = norm_heads_backward(e, d_qkv);
  d_qkv = gather_heads_backward(e, d_qkv);
  return append_column_parallel_product_backward(e, d_qkv, KeptTensorRole::kAttentionLinearInput,
                                                 qkv_product(e.s));
}

}  // namespace

namespace {

/// Returns the role of the output projection's input: the core's result (which the core's backward
/// also needs), the gated result, or a copy in another type or order.
KeptTensorRole projected_role(const ModelBlockBuildContext& e, const MatrixProduct& output) {
  if (e.s.copies_attention_result || keeps_low_precision_input_copy(e, output)) {
    return KeptTensorRole::kProjectionInput;
  }
  return e.s.model->attention_gate ? KeptTensorRole::kAttentionGated
                                   : KeptTensorRole::kAttentionOut;
}

}  // namespace

TensorId append_attention_block(ModelBlockBuildContext& e, TensorId normed,
                                const model::LayerClass& layer) {
  const TensorId qkv = project(e, normed, layer);
  const TensorId out = append_attention_core(e, qkv, layer);
  e.kept.set(KeptTensorRole::kAttentionOut, out);
  const TensorId result = e.s.copies_attention_result ? e.kept.get(KeptTensorRole::kProjectionInput)
                                                      : gate_result(e, out);
  record_module_end_tensor(e, plan::RecomputeModule::kCoreAttention, result);
  const MatrixProduct output = output_product(e.s);
  return append_matrix_product_with_lora(e, result, output, projected_role(e, output));
}

TensorId append_attention_block_backward(ModelBlockBuildContext& e, TensorId dy,
                                         const model::LayerClass& layer) {
  const MatrixProduct output = output_product(e.s);
  const TensorId d_result =
      append_matrix_product_backward(e, dy, projected_role(e, output), output);
  const GateGradients d = gate_backward(e, d_result);
  const TensorId d_qkv = append_attention_core_backward(e, d.out, layer);
  join_gates(e, d_qkv, d.gates);
  return project_backward(e, d_qkv, layer);
}

}  // namespace stepwright::step
