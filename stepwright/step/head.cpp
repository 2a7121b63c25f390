#include "stepwright/core/divide_up.h"
#include "stepwright/step/blocks.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/loss.h"
#include "stepwright/step/prune.h"
#include "stepwright/step/split_backward.h"
#include "stepwright/step/unit.h"

namespace stepwright::step {
namespace {

constexpr NormNames kFinalNorm{Keep::kFinalInput, Keep::kFinalStatistics, LayerPart::kFinalNorm,
                               Keep::kFinalNormCopies};

}  // namespace

std::vector<Kept> predict(BlockBuildContext& e, TensorId x, const NormNames& role) {
  begin_vocabulary_pass(e, schedule::Direction::kHandRows);
  TensorId rows = x < 0 ? x : norm(e, x, {e.s.rows, e.s.model->hidden}, role);
  if (e.s.spread > 1) rows = broadcast_residual_rows(e, rows, e.forward, LayerPart::kHead);
  begin_vocabulary_pass(e, schedule::Direction::kLogits);
  return append_head_and_loss(e, rows);
}

namespace {

/// True if a rank has the input of a norm, or copies of it.
bool has_input(const BlockBuildContext& e, const NormNames& role) {
  return e.kept.has(role.input) || e.kept.has(role.copies);
}

/// Backward of a head whose row gradient was computed with the logits: its weight gradient comes
/// last.
TensorId predict_backward_of_sum(BlockBuildContext& e, const NormNames& role) {
  begin_vocabulary_pass(e, schedule::Direction::kTakeGradient);
  const TensorId d_rows = e.kept.get(Keep::kHeadRowGradient);
  const TensorId dx = has_input(e, role)
                          ? append_norm_backward(e, d_rows, {e.s.rows, e.s.model->hidden}, role)
                          : TensorId{-1};
  begin_vocabulary_pass(e, schedule::Direction::kLogitGradient);
  append_head_weight_gradient(e);
  return dx;
}

}  // namespace

TensorId predict_backward(BlockBuildContext& e, const NormNames& role, std::span<const Kept> chunks,
                          TensorId beside) {
  if (e.s.barriers == 1) return predict_backward_of_sum(e, role);
  begin_vocabulary_pass(e, schedule::Direction::kLogitGradient);
  const TensorId d_rows = append_head_and_loss_backward(e, chunks);
  begin_vocabulary_pass(e, schedule::Direction::kSumGradient);
  if (e.s.spread > 1) {
    append_all_reduce(e, Scheme::kPipeline, d_rows, Phase::kDataGradient, LayerPart::kHead);
  }
  begin_vocabulary_pass(e, schedule::Direction::kTakeGradient);
  if (!has_input(e, role)) return -1;
  return append_norm_backward(e, d_rows, {e.s.rows, e.s.model->hidden}, role, beside);
}

namespace {

/// Moves the weight gradients of the head's product from its backward into `deferred`.
void defer_weights(BlockTemplatePair& pair) {
  SplitBackward parts = split_backward(pair.backward, LayerPart::kHead);
  if (parts.weight.operators.empty()) return;
  pair.backward = std::move(parts.data);
  pair.deferred = std::move(parts.weight);
}

}  // namespace

BlockTemplatePair build_head(const Setting& s, bool own_table, bool at_end) {
  const std::vector<LocalParameter> parameters = local_head_parameters(s, own_table, at_end);
  ParameterBlockTemplate forward(s, "head.forward", parameters);
  const TensorId x = at_end ? forward.builder.input(residual_tensor(s, "residual")) : -1;
  Kept kept;
  BlockBuildContext e{forward.builder, s, kept, Phase::kForward, forward.parameters, -1};
  std::vector<Kept> all = predict(e, x, kFinalNorm);
  if (kept.has(kFinalNorm.copies)) kept.forget(kFinalNorm.input);
  all.insert(all.begin(), kept);
  const bool is_last = s.model->extra_predicted_tokens() == 0;
  if (!is_last) forward.builder.output(x);  // passes the rows to the multi-token layers
  for (const Kept& each : all) forward.builder.save(each);

  ParameterBlockTemplate backward(s, "head.backward", parameters);
  const TensorId d_x =
      is_last ? TensorId{-1} : backward.builder.input(residual_tensor(s, "gradient"));
  std::vector<Kept> restored = backward.builder.restore(forward.builder, all);
  backward.create_block_gradient_tensor();
  BlockBuildContext b{backward.builder,  s, restored.front(), Phase::kForward, backward.parameters,
                      backward.gradients};
  const std::span<const Kept> chunks = std::span(restored).subspan(1);
  const TensorId gradient = predict_backward(b, kFinalNorm, chunks, d_x);
  if (at_end) backward.builder.output(gradient);
  backward.output_block_gradient_tensor();
  BlockTemplatePair pair{std::move(forward.builder.piece()), std::move(backward.builder.piece()),
                         forward.builder.passes(), backward.builder.passes()};
  if (s.model->has_frozen_weights()) {
    prune_unneeded_gradients(pair, head_gradients(*s.model) == model::LayerGradientFlow::kThrough,
                             false);
  }
  if (s.defers_head_weight_gradients()) defer_weights(pair);
  return pair;
}

namespace {

bool scatters_pipeline(const Setting& s) {
  return s.kernels.scattered_pipeline && s.tensor_parallel() && !s.sequence_parallel;
}

std::int64_t neighbour_elements(const Setting& s) {
  const std::int64_t whole = s.rows * s.model->hidden;
  return scatters_pipeline(s) ? ceil_divide(whole, s.tensor) : whole;
}

Operator pipeline_gather(const Setting& s, schedule::Direction direction) {
  return {
      .kind = OperatorKind::kAllGather,
      .phase = direction == schedule::Direction::kForward ? Phase::kForward : Phase::kDataGradient,
      .scheme = Scheme::kPipeline,
      .group = plan::GroupKind::kTensor,
      .dtype = s.storage,
      .payload_elements = neighbour_elements(s) * s.tensor,
      .name = "pipeline.gather"};
}

Operator neighbour_message(const Setting& s, OperatorKind kind, schedule::Direction direction) {
  const bool forward = direction == schedule::Direction::kForward;
  Stream stream = forward ? Stream::kPipelineForward : Stream::kPipelineBackward;
  if (kind == OperatorKind::kSend && !s.overlap.pipeline) stream = Stream::kCompute;
  return {.kind = kind,
          .phase = forward ? Phase::kForward : Phase::kDataGradient,
          .stream = stream,
          .scheme = Scheme::kPipeline,
          .group = plan::GroupKind::kPipeline,
          .dtype = s.storage,
          .payload_elements = neighbour_elements(s),
          .name = forward ? "pipeline.activation" : "pipeline.gradient"};
}

}  // namespace

Template build_pipeline_send(const Setting& s, schedule::Direction direction) {
  TemplateBuilder builder("send", {});
  const TensorId x = builder.input(residual_tensor(s, "residual"));
  builder.add(neighbour_message(s, OperatorKind::kSend, direction), {x}, {});
  return std::move(builder.piece());
}

Template build_pipeline_receive(const Setting& s, schedule::Direction direction) {
  TemplateBuilder builder("receive", {});
  const TensorId x = builder.tensor(residual_tensor(s, "residual"));
  if (scatters_pipeline(s)) {
    const TensorId part = builder.tensor({.name = "part",
                                          .kind = TensorKind::kCommunication,
                                          .dtype = s.storage,
                                          .extents = {neighbour_elements(s), 1, 1}});
    builder.add(neighbour_message(s, OperatorKind::kReceive, direction), {}, {part});
    builder.add(pipeline_gather(s, direction), {part}, {x});
  } else {
    builder.add(neighbour_message(s, OperatorKind::kReceive, direction), {}, {x});
  }
  builder.output(x);
  return std::move(builder.piece());
}

Template build_residual_hand_over(const Setting& s) {
  TemplateBuilder builder("hand_over", {});
  builder.piece().saved.push_back(builder.input(residual_tensor(s, "residual")));
  return std::move(builder.piece());
}

Template build_residual_take_over(const Setting& s) {
  TemplateBuilder builder("take_over", {});
  const TensorId x = builder.tensor(residual_tensor(s, "residual"));
  builder.piece().restored.push_back(x);
  builder.output(x);
  return std::move(builder.piece());
}

}  // namespace stepwright::step
