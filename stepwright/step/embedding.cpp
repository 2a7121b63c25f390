#include "stepwright/step/emit.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/unit.h"

namespace stepwright {
namespace {

constexpr NormRole kEmbeddingNorm{Keep::kEmbeddingNormInput, Keep::kEmbeddingStatistics,
                                  LayerPart::kEmbeddingNorm, Keep::kEmbeddingNormCopies};

Operator look_up(const Setting& s, Phase phase) {
  return {.kind = OperatorKind::kEmbedding,
          .phase = phase,
          .dtype = s.storage,
          .shape = {.rows = s.tokens, .columns = s.model->hidden, .inner = s.vocabulary},
          .part = LayerPart::kEmbedding,
          .parameter = 0};
}

TensorId embed(Emit& e) {
  const std::int64_t h = e.s.model->hidden;
  const TensorId partial = activation(e, "embedded", e.s.tokens, h);
  e.out.add(look_up(e.s, e.forward), {e.parameters}, {partial});
  TensorId x = leave_tensor(e, partial, {h, LayerPart::kEmbedding, e.forward});
  if (e.s.model->position == Position::kLearned) {
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

void embed_backward(Emit& e, TensorId dy) {
  const std::int64_t h = e.s.model->hidden;
  TensorId dx = residual_backward(e, dy, Keep::kEmbeddingMask);
  if (e.s.model->embedding_norm) dx = norm_backward(e, dx, {e.s.rows, h}, kEmbeddingNorm);
  if (e.s.model->position == Position::kLearned) {
    e.out.add({.kind = OperatorKind::kAccumulate,
               .phase = Phase::kWeightGradient,
               .dtype = e.s.storage,
               .shape = {.rows = e.s.rows, .columns = h},
               .part = LayerPart::kPosition,
               .parameter = e.out.parameter(LayerPart::kPosition)},
              {dx}, {e.gradients});
  }
  const TensorId gathered = enter_tensor(e, dx, {h, LayerPart::kEmbedding, Phase::kWeightGradient});
  e.out.add(look_up(e.s, Phase::kWeightGradient), {gathered}, {e.gradients});
}

}  // namespace

BlockPair build_embedding(const Setting& s) {
  const std::vector<LocalParameter> parameters = local_embedding_parameters(s);
  Unit forward(s, "embedding.forward", parameters);
  Kept kept;
  Emit e{forward.builder, s, kept, Phase::kForward, forward.parameters, -1};
  forward.builder.output(embed(e));
  forward.builder.save(kept);

  Unit backward(s, "embedding.backward", parameters);
  const TensorId dy = backward.builder.input(residual_tensor(s, "gradient"));
  Kept restored = backward.builder.restore(forward.builder, kept);
  backward.open_gradients();
  Emit b{backward.builder, s, restored, Phase::kForward, backward.parameters, backward.gradients};
  embed_backward(b, dy);
  backward.close_gradients();
  return {std::move(forward.builder.piece()), std::move(backward.builder.piece())};
}

}  // namespace stepwright
