// Modules after the last layer that predict tokens further ahead (DeepSeek-V3, 2412.19437, section
// 2.2). Each module norms, joins and projects the hidden rows of the module before and the
// embeddings of the next tokens; then come a layer like the last one, a norm, and the model's own
// head with a separate loss.
#include "stepwright/step/blocks.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/unit.h"

namespace stepwright::step {
namespace {

constexpr NormTensorNames kHiddenNorm{
    KeptTensorRole::kMultiTokenHidden, KeptTensorRole::kMultiTokenHiddenStatistics,
    LayerPart::kMultiTokenHiddenNorm, KeptTensorRole::kMultiTokenHiddenCopies};
constexpr NormTensorNames kEmbeddedNorm{
    KeptTensorRole::kMultiTokenEmbedded, KeptTensorRole::kMultiTokenEmbeddedStatistics,
    LayerPart::kMultiTokenEmbeddingNorm, KeptTensorRole::kMultiTokenEmbeddedCopies};
constexpr NormTensorNames kAheadNorm{KeptTensorRole::kFinalInput, KeptTensorRole::kFinalStatistics,
                                     LayerPart::kMultiTokenFinalNorm,
                                     KeptTensorRole::kFinalNormCopies};

model::LayerClass class_of_modules(const StepBuildSettings& s) {
  return s.model->layer_class(s.model->layers - 1);
}

ActivationMatrixSize rows_of(const StepBuildSettings& s) { return {s.rows, s.model->hidden}; }

/// Projection whose columns are split over tensor ranks and then gathered (Megatron-Core
/// transformer/multi_token_prediction.py, `eh_proj`).
MatrixProduct projection(const StepBuildSettings& s) {
  return {s.tokens, 2 * s.model->hidden, s.model->hidden / s.tensor,
          LayerPart::kMultiTokenProjection};
}

/// Returns a message between tensor ranks, each of which holds some columns of all rows.
Operator column_message(const ModelBlockBuildContext& e, OperatorKind kind, Phase phase) {
  return {.kind = kind,
          .phase = phase,
          .stream = stream_of_messages(e.s, ParallelismScheme::kTensor),
          .scheme = ParallelismScheme::kTensor,
          .group = plan::CommunicatorKind::kTensor,
          .dtype = e.s.storage,
          .payload_elements = e.s.tokens * e.s.model->hidden,
          .part = LayerPart::kMultiTokenProjection,
          .purpose = OperatorPurpose::kColumns};
}

Operator joining(const ModelBlockBuildContext& e, Phase phase) {
  return computation(e, OperatorKind::kAdd, phase, LayerPart::kMultiTokenJoin,
                     {.rows = e.s.rows, .columns = 2 * e.s.model->hidden});
}

/// Writes the projection and returns the rows that enter the layer; after the gather each rank
/// continues with its own rows.
TensorId project(ModelBlockBuildContext& e, TensorId joined) {
  const TensorId own =
      append_column_parallel_product(e, joined, KeptTensorRole::kMultiTokenJoined, projection(e.s));
  if (!e.s.tensor_parallel()) return own;
  const TensorId all =
      create_message_buffer(e, "multi_token.projected", e.s.rows, e.s.model->hidden);
  e.out.add(column_message(e, OperatorKind::kAllGather, e.forward), {own}, {all});
  return all;
}

TensorId project_backward(ModelBlockBuildContext& e, TensorId dy) {
  TensorId own = dy;
  if (e.s.tensor_parallel()) {
    const std::int64_t h = e.s.model->hidden;
    const TensorId all = enter_tensor_parallel_region(
        e, dy, {h, LayerPart::kMultiTokenProjection, Phase::kDataGradient});
    own = create_activation_tensor(e, "gradient", e.s.tokens, projection(e.s).columns);
    e.out.add(
        computation(e, OperatorKind::kAdd, Phase::kDataGradient, LayerPart::kMultiTokenProjection,
                    {.rows = e.s.tokens, .columns = projection(e.s).columns}),
        {all}, {own});
  }
  return append_column_parallel_product_backward(e, own, KeptTensorRole::kMultiTokenJoined,
                                                 projection(e.s));
}

TensorId entry(ModelBlockBuildContext& e, TensorId hidden) {
  const TensorId embedded = norm(e, append_embedding_lookup(e), rows_of(e.s), kEmbeddedNorm);
  const TensorId normed = norm(e, hidden, rows_of(e.s), kHiddenNorm);
  const TensorId joined =
      create_activation_tensor(e, "multi_token.joined", e.s.rows, 2 * e.s.model->hidden);
  e.out.add(joining(e, e.forward), {embedded, normed}, {joined});
  return project(e, joined);
}

/// Writes the backward of norms, join and projection; returns the gradient of the hidden rows.
TensorId entry_backward(ModelBlockBuildContext& e, TensorId dy) {
  const TensorId d_joined = project_backward(e, dy);
  const std::int64_t h = e.s.model->hidden;
  const TensorId d_embedded = create_activation_tensor(e, "gradient", e.s.rows, h);
  const TensorId d_normed = create_activation_tensor(e, "gradient", e.s.rows, h);
  e.out.add(joining(e, Phase::kDataGradient), {d_joined}, {d_embedded, d_normed});
  append_embedding_table_gradient(e,
                                  append_norm_backward(e, d_embedded, rows_of(e.s), kEmbeddedNorm));
  return append_norm_backward(e, d_normed, rows_of(e.s), kHiddenNorm);
}

}  // namespace

ModelBlockTemplatePair build_multi_token_layer_templates(const StepBuildSettings& s,
                                                         std::int64_t depth, bool own_table,
                                                         const plan::LayerRecompute& recompute) {
  const std::vector<RankLocalParameter> parameters =
      local_multi_token_parameters(s, depth, own_table);
  const bool is_last = depth + 1 == s.model->extra_predicted_tokens();
  LayerOperatorWriter layer(class_of_modules(s), recompute);
  ParameterizedBlockTemplate forward(s, "multi_token.forward", parameters);
  const TensorId before = forward.builder.add_input_tensor(residual_tensor(s, "residual"));
  KeptTensors all;
  ModelBlockBuildContext e{forward.builder, s, all, Phase::kForward, forward.parameters, -1};
  const TensorId into_layer = entry(e, before);
  KeptTensors of_layer;
  ModelBlockBuildContext inside{forward.builder,    s, of_layer, Phase::kForward,
                                forward.parameters, -1};
  const TensorId hidden = layer.forward(inside, into_layer);
  std::vector<KeptTensors> saved = append_head_and_cross_entropy(e, hidden, kAheadNorm);
  if (!is_last) forward.builder.output(hidden);
  const KeptTensors kept =
      all.with_replaced_tensors(layer.tensors_kept_after_forward(of_layer, into_layer));
  all = all.with_replaced_tensors(of_layer);
  saved.insert(saved.begin(), kept);
  for (const KeptTensors& each : saved) forward.builder.mark_tensors_kept_for_backward(each);

  ParameterizedBlockTemplate backward(s, "multi_token.backward", parameters);
  const TensorId d_ahead =
      is_last ? TensorId{-1} : backward.builder.add_input_tensor(residual_tensor(s, "gradient"));
  std::vector<KeptTensors> restored =
      backward.builder.create_kept_tensors_in_backward(forward.builder, saved);
  backward.create_block_gradient_tensor();
  ModelBlockBuildContext b{backward.builder,    s,
                           restored.front(),    Phase::kForward,
                           backward.parameters, backward.gradients};
  const std::span<const KeptTensors> chunks = std::span(restored).subspan(1);
  const TensorId d_hidden = predict_backward(b, kAheadNorm, chunks, d_ahead);
  backward.builder.output(entry_backward(
      b, layer.backward(b, d_hidden, {forward.builder, all, kept, forward.parameters})));
  backward.output_block_gradient_tensor();
  return {std::move(forward.builder.piece()), std::move(backward.builder.piece())};
}

}  // namespace stepwright::step
