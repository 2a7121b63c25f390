#include "stepwright/core/divide_up.h"
#include "stepwright/step/blocks.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/loss.h"
#include "stepwright/step/prune.h"
#include "stepwright/step/split_backward.h"
#include "stepwright/step/unit.h"

namespace stepwright::step {
namespace {

constexpr NormTensorNames kFinalNorm{KeptTensorRole::kFinalInput, KeptTensorRole::kFinalStatistics,
                                     LayerPart::kFinalNorm, KeptTensorRole::kFinalNormCopies};

}  // namespace

std::vector<KeptTensors> append_head_and_cross_entropy(ModelBlockBuildContext& e, TensorId x,
                                                       const NormTensorNames& role) {
  begin_vocabulary_pass(e, schedule::Direction::kHandRows);
  TensorId rows = x < 0 ? x : norm(e, x, {e.s.rows, e.s.model->hidden}, role);
  if (e.s.spread > 1) rows = broadcast_residual_rows(e, rows, e.forward, LayerPart::kHead);
  begin_vocabulary_pass(e, schedule::Direction::kLogits);
  return append_head_and_loss(e, rows);
}

namespace {

/// True if a rank has the input of a norm, or copies of it.
bool has_input(const ModelBlockBuildContext& e, const NormTensorNames& role) {
  return e.kept.has(role.input) || e.kept.has(role.copies);
}

/// Backward of a head whose row gradient was computed with the logits: its weight gradient comes
/// last.
TensorId predict_backward_of_sum(ModelBlockBuildContext& e, const NormTensorNames& role) {
  begin_vocabulary_pass(e, schedule::Direction::kTakeGradient);
  const TensorId d_rows = e.kept.get(KeptTensorRole::kHeadRowGradient);
  const TensorId dx = has_input(e, role)
                          ? append_norm_backward(e, d_rows, {e.s.rows, e.s.model->hidden}, role)
                          : TensorId{-1};
  begin_vocabulary_pass(e, schedule::Direction::kLogitGradient);
  append_head_weight_gradient(e);
  return dx;
}

}  // namespace

TensorId predict_backward(ModelBlockBuildContext& e, const NormTensorNames& role,
                          std::span<const KeptTensors> chunks, TensorId beside) {
  if (e.s.barriers == 1) return predict_backward_of_sum(e, role);
  begin_vocabulary_pass(e, schedule::Direction::kLogitGradient);
  const TensorId d_rows = append_head_and_loss_backward(e, chunks);
  begin_vocabulary_pass(e, schedule::Direction::kSumGradient);
  if (e.s.spread > 1) {
    append_all_reduce(e, ParallelismScheme::kPipeline, d_rows, Phase::kDataGradient,
                      LayerPart::kHead);
  }
  begin_vocabulary_pass(e, schedule::Direction::kTakeGradient);
  if (!has_input(e, role)) return -1;
  return append_norm_backward(e, d_rows, {e.s.rows, e.s.model->hidden}, role, beside);
}

namespace {

/// Moves the weight gradients of the head's product from its backward into `deferred`.
void defer_weights(ModelBlockTemplatePair& pair) {
  SplitBackwardTemplates parts = split_backward(pair.backward, LayerPart::kHead);
  if (parts.weight.operators.empty()) return;
  pair.backward = std::move(parts.data);
  pair.deferred = std::move(parts.weight);
}

}  // namespace

ModelBlockTemplatePair build_head_templates(const StepBuildSettings& s, bool own_table,
                                            bool at_end) {
  const std::vector<RankLocalParameter> parameters = local_head_parameters(s, own_table, at_end);
  ParameterizedBlockTemplate forward(s, "head.forward", parameters);
  const TensorId x = at_end ? forward.builder.add_input_tensor(residual_tensor(s, "residual")) : -1;
  KeptTensors kept;
  ModelBlockBuildContext e{forward.builder, s, kept, Phase::kForward, forward.parameters, -1};
  std::vector<KeptTensors> all = append_head_and_cross_entropy(e, x, kFinalNorm);
  if (kept.has(kFinalNorm.copies)) kept.forget(kFinalNorm.input);
  all.insert(all.begin(), kept);
  const bool is_last = s.model->extra_predicted_tokens() == 0;
  if (!is_last) forward.builder.output(x);  // passes the rows to the multi-token layers
  for (const KeptTensors& each : all) forward.builder.mark_tensors_kept_for_backward(each);

  ParameterizedBlockTemplate backward(s, "head.backward", parameters);
  const TensorId d_x =
      is_last ? TensorId{-1} : backward.builder.add_input_tensor(residual_tensor(s, "gradient"));
  std::vector<KeptTensors> restored =
      backward.builder.create_kept_tensors_in_backward(forward.builder, all);
  backward.create_block_gradient_tensor();
  ModelBlockBuildContext b{backward.builder,    s,
                           restored.front(),    Phase::kForward,
                           backward.parameters, backward.gradients};
  const std::span<const KeptTensors> chunks = std::span(restored).subspan(1);
  const TensorId gradient = predict_backward(b, kFinalNorm, chunks, d_x);
  if (at_end) backward.builder.output(gradient);
  backward.output_block_gradient_tensor();
  ModelBlockTemplatePair pair{std::move(forward.builder.piece()),
                              std::move(backward.builder.piece()), forward.builder.passes(),
                              backward.builder.passes()};
  if (s.model->has_frozen_weights()) {
    remove_operators_of_unneeded_gradients(
        pair, head_gradients(*s.model) == model::LayerGradientFlow::kThrough, false);
  }
  if (s.defers_head_weight_gradients()) defer_weights(pair);
  return pair;
}

namespace {

bool scatters_pipeline(const StepBuildSettings& s) {
  return s.kernels.scattered_pipeline && s.tensor_parallel() && !s.sequence_parallel;
}

std::int64_t neighbour_elements(const StepBuildSettings& s) {
  const std::int64_t whole = s.rows * s.model->hidden;
  return scatters_pipeline(s) ? ceil_divide(whole, s.tensor) : whole;
}

Operator pipeline_gather(const StepBuildSettings& s, schedule::Direction direction) {
  return {
      .kind = OperatorKind::kAllGather,
      .phase = direction == schedule::Direction::kForward ? Phase::kForward : Phase::kDataGradient,
      .scheme = ParallelismScheme::kPipeline,
      .group = plan::CommunicatorKind::kTensor,
      .dtype = s.storage,
      .payload_elements = neighbour_elements(s) * s.tensor,
      .name = "pipeline.gather"};
}

Operator neighbour_message(const StepBuildSettings& s, OperatorKind kind,
                           schedule::Direction direction) {
  const bool forward = direction == schedule::Direction::kForward;
  DeviceStream stream = forward ? DeviceStream::kPipelineForward : DeviceStream::kPipelineBackward;
  if (kind == OperatorKind::kSend && !s.overlap.pipeline) stream = DeviceStream::kCompute;
  return {.kind = kind,
          .phase = forward ? Phase::kForward : Phase::kDataGradient,
          .stream = stream,
          .scheme = ParallelismScheme::kPipeline,
          .group = plan::CommunicatorKind::kPipeline,
          .dtype = s.storage,
          .payload_elements = neighbour_elements(s),
          .name = forward ? "pipeline.activation" : "pipeline.gradient"};
}

}  // namespace

OperatorTemplate build_pipeline_send_template(const StepBuildSettings& s,
                                              schedule::Direction direction) {
  OperatorTemplateBuilder builder("send", {});
  const TensorId x = builder.add_input_tensor(residual_tensor(s, "residual"));
  builder.add(neighbour_message(s, OperatorKind::kSend, direction), {x}, {});
  return std::move(builder.piece());
}

OperatorTemplate build_pipeline_receive(const StepBuildSettings& s, schedule::Direction direction) {
  OperatorTemplateBuilder builder("receive", {});
  const TensorId x = builder.tensor(residual_tensor(s, "residual"));
  if (scatters_pipeline(s)) {
    const TensorId part = builder.tensor({.name = "part",
                                          .kind = TensorPurpose::kCommunication,
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

OperatorTemplate build_residual_hand_over_template(const StepBuildSettings& s) {
  OperatorTemplateBuilder builder("hand_over", {});
  builder.piece().saved.push_back(builder.add_input_tensor(residual_tensor(s, "residual")));
  return std::move(builder.piece());
}

OperatorTemplate build_residual_take_over(const StepBuildSettings& s) {
  OperatorTemplateBuilder builder("take_over", {});
  const TensorId x = builder.tensor(residual_tensor(s, "residual"));
  builder.piece().restored.push_back(x);
  builder.output(x);
  return std::move(builder.piece());
}

}  // namespace stepwright::step
