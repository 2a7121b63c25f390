#include <optional>
#include <span>
#include <utility>

#include "stepwright/step/blocks.h"
#include "stepwright/step/encoder.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/prune.h"
#include "stepwright/step/unit.h"

namespace stepwright::step {
namespace {

constexpr NormTensorNames kEmbeddingNorm{
    KeptTensorRole::kEmbeddingNormInput, KeptTensorRole::kEmbeddingStatistics,
    LayerPart::kEmbeddingNorm, KeptTensorRole::kEmbeddingNormCopies};

/// Returns the look-up operator of the embedding table; a tied head on the same position reads the
/// same table.
Operator look_up(const ModelBlockBuildContext& e, Phase phase) {
  const ParameterId own = e.out.parameter_of_layer_part(LayerPart::kEmbedding);
  return {.kind = OperatorKind::kEmbedding,
          .phase = phase,
          .dtype = e.s.storage,
          .shape = {.rows = e.s.tokens, .columns = e.s.model->hidden, .inner = e.s.vocabulary},
          .part = LayerPart::kEmbedding,
          .parameter = own >= 0 ? own : e.out.parameter_of_layer_part(LayerPart::kHead)};
}

}  // namespace

TensorId append_embedding_lookup(ModelBlockBuildContext& e) {
  const std::int64_t h = e.s.model->hidden;
  const TensorId partial = create_activation_tensor(e, "embedded", e.s.tokens, h);
  e.out.add(look_up(e, e.forward), {e.parameters}, {partial});
  return exit_tensor_parallel_region(e, partial, {h, LayerPart::kEmbedding, e.forward});
}

void append_embedding_table_gradient(ModelBlockBuildContext& e, TensorId dy) {
  const TensorParallelRegionCrossing crossing{e.s.model->hidden, LayerPart::kEmbedding,
                                              Phase::kWeightGradient};
  const TensorId gathered = enter_tensor_parallel_region(e, dy, crossing);
  e.out.add(look_up(e, Phase::kWeightGradient), {gathered}, {e.gradients});
}

namespace {

TensorId embed(ModelBlockBuildContext& e, ImageEncoderOperatorWriter* encoder, bool at_end) {
  const std::int64_t h = e.s.model->hidden;
  begin_vocabulary_pass(e, schedule::Direction::kEmbeddingLookUp);
  TensorId x = append_embedding_lookup(e);
  if (e.s.spread > 1)
    append_all_reduce(e, ParallelismScheme::kPipeline, x, e.forward, LayerPart::kEmbedding);
  begin_vocabulary_pass(e, schedule::Direction::kTakeRows);
  if (!at_end) return -1;
  if (encoder != nullptr) encoder->forward(e, x);
  if (e.s.model->position == model::PositionEncoding::kLearned) {
    e.out.add({.kind = OperatorKind::kAdd,
               .phase = e.forward,
               .dtype = e.s.storage,
               .shape = {.rows = e.s.rows, .columns = h},
               .part = LayerPart::kPosition,
               .parameter = e.out.parameter_of_layer_part(LayerPart::kPosition)},
              {x, e.parameters}, {x});
  }
  if (e.s.model->embedding_norm) x = norm(e, x, {e.s.rows, h}, kEmbeddingNorm);
  append_dropout(e, x, KeptTensorRole::kEmbeddingMask);
  return x;
}

/// Writes the backward of positions, norm and dropout; returns the gradient of the embedded rows.
TensorId embed_backward(ModelBlockBuildContext& e, TensorId dy) {
  const std::int64_t h = e.s.model->hidden;
  begin_vocabulary_pass(e, schedule::Direction::kHandGradient);
  TensorId dx = append_residual_addition_backward(e, dy, KeptTensorRole::kEmbeddingMask);
  if (e.s.model->embedding_norm) dx = append_norm_backward(e, dx, {e.s.rows, h}, kEmbeddingNorm);
  if (e.s.model->position == model::PositionEncoding::kLearned) {
    e.out.add({.kind = OperatorKind::kAccumulate,
               .phase = Phase::kWeightGradient,
               .dtype = e.s.storage,
               .shape = {.rows = e.s.rows, .columns = h},
               .part = LayerPart::kPosition,
               .parameter = e.out.parameter_of_layer_part(LayerPart::kPosition)},
              {dx}, {e.gradients});
  }
  if (e.s.spread > 1) broadcast_residual_rows(e, dx, Phase::kWeightGradient, LayerPart::kEmbedding);
  begin_vocabulary_pass(e, schedule::Direction::kTableGradient);
  append_embedding_table_gradient(e, dx);
  return dx;
}

/// Writes the backward of an embedding on a position that holds only a part of the table.
TensorId embed_part_backward(ModelBlockBuildContext& e) {
  begin_vocabulary_pass(e, schedule::Direction::kHandGradient);
  const TensorId rows =
      broadcast_residual_rows(e, -1, Phase::kWeightGradient, LayerPart::kEmbedding);
  begin_vocabulary_pass(e, schedule::Direction::kTableGradient);
  append_embedding_table_gradient(e, rows);
  return rows;
}

}  // namespace

ModelBlockTemplatePair build_embedding_templates(const StepBuildSettings& s, bool whole,
                                                 bool at_end) {
  const std::vector<RankLocalParameter> parameters = local_embedding_parameters(s, at_end);
  std::optional<ImageEncoderOperatorWriter> encoder;
  if (s.model->encodes_images()) encoder.emplace(s, whole);
  ImageEncoderOperatorWriter* const images = encoder ? &*encoder : nullptr;
  ParameterizedBlockTemplate forward(s, "embedding.forward", parameters);
  std::vector<KeptTensors> kept(1);
  ModelBlockBuildContext e{forward.builder,    s, kept.front(), Phase::kForward,
                           forward.parameters, -1};
  const TensorId x = embed(e, images, at_end);
  if (at_end) forward.builder.output(x);
  if (images != nullptr)
    kept.insert(kept.end(), images->tensors_kept_by_encoder().begin(),
                images->tensors_kept_by_encoder().end());
  for (const KeptTensors& part : kept) forward.builder.mark_tensors_kept_for_backward(part);

  ParameterizedBlockTemplate backward(s, "embedding.backward", parameters);
  const TensorId dy =
      at_end ? backward.builder.add_input_tensor(residual_tensor(s, "gradient")) : -1;
  std::vector<KeptTensors> restored =
      backward.builder.create_kept_tensors_in_backward(forward.builder, kept);
  backward.create_block_gradient_tensor();
  ModelBlockBuildContext b{backward.builder,    s,
                           restored.front(),    Phase::kForward,
                           backward.parameters, backward.gradients};
  const TensorId d_rows = at_end ? embed_backward(b, dy) : embed_part_backward(b);
  if (images != nullptr) {
    images->backward(b, std::span(restored).subspan(1), d_rows, forward.builder,
                     forward.parameters);
  }
  backward.output_block_gradient_tensor();
  ModelBlockTemplatePair pair{std::move(forward.builder.piece()),
                              std::move(backward.builder.piece()), forward.builder.passes(),
                              backward.builder.passes()};
  if (s.model->has_frozen_weights()) remove_operators_of_unneeded_gradients(pair, false, false);
  return pair;
}

}  // namespace stepwright::step
