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

constexpr NormNames kEmbeddingNorm{Keep::kEmbeddingNormInput, Keep::kEmbeddingStatistics,
                                   LayerPart::kEmbeddingNorm, Keep::kEmbeddingNormCopies};

/// Returns the look-up operator of the embedding table; a tied head on the same position reads the
/// same table.
Operator look_up(const BlockBuildContext& e, Phase phase) {
  const ParameterId own = e.out.parameter(LayerPart::kEmbedding);
  return {.kind = OperatorKind::kEmbedding,
          .phase = phase,
          .dtype = e.s.storage,
          .shape = {.rows = e.s.tokens, .columns = e.s.model->hidden, .inner = e.s.vocabulary},
          .part = LayerPart::kEmbedding,
          .parameter = own >= 0 ? own : e.out.parameter(LayerPart::kHead)};
}

}  // namespace

TensorId append_embedding_lookup(BlockBuildContext& e) {
  const std::int64_t h = e.s.model->hidden;
  const TensorId partial = activation(e, "embedded", e.s.tokens, h);
  e.out.add(look_up(e, e.forward), {e.parameters}, {partial});
  return leave_tensor_region(e, partial, {h, LayerPart::kEmbedding, e.forward});
}

void append_embedding_table_gradient(BlockBuildContext& e, TensorId dy) {
  const TensorRegionCrossing crossing{e.s.model->hidden, LayerPart::kEmbedding,
                                      Phase::kWeightGradient};
  const TensorId gathered = enter_tensor_region(e, dy, crossing);
  e.out.add(look_up(e, Phase::kWeightGradient), {gathered}, {e.gradients});
}

namespace {

TensorId embed(BlockBuildContext& e, EncoderWriter* encoder, bool at_end) {
  const std::int64_t h = e.s.model->hidden;
  begin_vocabulary_pass(e, schedule::Direction::kLookUp);
  TensorId x = append_embedding_lookup(e);
  if (e.s.spread > 1) append_all_reduce(e, Scheme::kPipeline, x, e.forward, LayerPart::kEmbedding);
  begin_vocabulary_pass(e, schedule::Direction::kTakeRows);
  if (!at_end) return -1;
  if (encoder != nullptr) encoder->forward(e, x);
  if (e.s.model->position == model::PositionEncoding::kLearned) {
    e.out.add({.kind = OperatorKind::kAdd,
               .phase = e.forward,
               .dtype = e.s.storage,
               .shape = {.rows = e.s.rows, .columns = h},
               .part = LayerPart::kPosition,
               .parameter = e.out.parameter(LayerPart::kPosition)},
              {x, e.parameters}, {x});
  }
  if (e.s.model->embedding_norm) x = norm(e, x, {e.s.rows, h}, kEmbeddingNorm);
  dropout(e, x, Keep::kEmbeddingMask);
  return x;
}

/// Writes the backward of positions, norm and dropout; returns the gradient of the embedded rows.
TensorId embed_backward(BlockBuildContext& e, TensorId dy) {
  const std::int64_t h = e.s.model->hidden;
  begin_vocabulary_pass(e, schedule::Direction::kHandGradient);
  TensorId dx = append_residual_backward(e, dy, Keep::kEmbeddingMask);
  if (e.s.model->embedding_norm) dx = append_norm_backward(e, dx, {e.s.rows, h}, kEmbeddingNorm);
  if (e.s.model->position == model::PositionEncoding::kLearned) {
    e.out.add({.kind = OperatorKind::kAccumulate,
               .phase = Phase::kWeightGradient,
               .dtype = e.s.storage,
               .shape = {.rows = e.s.rows, .columns = h},
               .part = LayerPart::kPosition,
               .parameter = e.out.parameter(LayerPart::kPosition)},
              {dx}, {e.gradients});
  }
  if (e.s.spread > 1) broadcast_residual_rows(e, dx, Phase::kWeightGradient, LayerPart::kEmbedding);
  begin_vocabulary_pass(e, schedule::Direction::kTableGradient);
  append_embedding_table_gradient(e, dx);
  return dx;
}

/// Writes the backward of an embedding on a position that holds only a part of the table.
TensorId embed_part_backward(BlockBuildContext& e) {
  begin_vocabulary_pass(e, schedule::Direction::kHandGradient);
  const TensorId rows =
      broadcast_residual_rows(e, -1, Phase::kWeightGradient, LayerPart::kEmbedding);
  begin_vocabulary_pass(e, schedule::Direction::kTableGradient);
  append_embedding_table_gradient(e, rows);
  return rows;
}

}  // namespace

BlockTemplatePair build_embedding(const Setting& s, bool whole, bool at_end) {
  const std::vector<LocalParameter> parameters = local_embedding_parameters(s, at_end);
  std::optional<EncoderWriter> encoder;
  if (s.model->encodes_images()) encoder.emplace(s, whole);
  EncoderWriter* const images = encoder ? &*encoder : nullptr;
  ParameterBlockTemplate forward(s, "embedding.forward", parameters);
  std::vector<Kept> kept(1);
  BlockBuildContext e{forward.builder, s, kept.front(), Phase::kForward, forward.parameters, -1};
  const TensorId x = embed(e, images, at_end);
  if (at_end) forward.builder.output(x);
  if (images != nullptr) kept.insert(kept.end(), images->kept().begin(), images->kept().end());
  for (const Kept& part : kept) forward.builder.save(part);

  ParameterBlockTemplate backward(s, "embedding.backward", parameters);
  const TensorId dy = at_end ? backward.builder.input(residual_tensor(s, "gradient")) : -1;
  std::vector<Kept> restored = backward.builder.restore(forward.builder, kept);
  backward.create_block_gradient_tensor();
  BlockBuildContext b{backward.builder,  s, restored.front(), Phase::kForward, backward.parameters,
                      backward.gradients};
  const TensorId d_rows = at_end ? embed_backward(b, dy) : embed_part_backward(b);
  if (images != nullptr) {
    images->backward(b, std::span(restored).subspan(1), d_rows, forward.builder,
                     forward.parameters);
  }
  backward.output_block_gradient_tensor();
  BlockTemplatePair pair{std::move(forward.builder.piece()), std::move(backward.builder.piece()),
                         forward.builder.passes(), backward.builder.passes()};
  if (s.model->has_frozen_weights()) prune_unneeded_gradients(pair, false, false);
  return pair;
}

}  // namespace stepwright::step
