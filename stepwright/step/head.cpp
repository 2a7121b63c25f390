#include "stepwright/step/emit.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/unit.h"

namespace stepwright {
namespace {

constexpr NormRole kFinalNorm{Keep::kFinalInput, Keep::kFinalStatistics, "norm.final"};

Product head_product(const Setting& s) {
  return {.rows = s.tokens,
          .inner = s.model->hidden,
          .columns = s.vocabulary,
          .name = "head.weight",
          .wide = true};
}

TensorId logits_tensor(Emit& e, std::string_view name, DType dtype) {
  return e.out.tensor({.name = name,
                       .kind = TensorKind::kLogits,
                       .dtype = dtype,
                       .extents = {e.s.tokens, e.s.vocabulary, 1}});
}

Operator loss_pass(const Emit& e, Phase phase, std::string_view name) {
  return {.kind = OperatorKind::kLossLocal,
          .phase = phase,
          .dtype = DType::kFp32,
          .shape = {.rows = e.s.tokens, .columns = e.s.vocabulary},
          .name = name};
}

/// One of the small all-reduces of the vocabulary-parallel cross entropy, `numbers` per token.
void share_loss(Emit& e, TensorId values, std::int64_t numbers, std::string_view name) {
  if (!e.s.tensor_parallel()) return;
  e.out.add({.kind = OperatorKind::kAllReduce,
             .phase = e.forward,
             .stream = message_stream(e.s, Scheme::kTensor),
             .scheme = Scheme::kTensor,
             .group = GroupKind::kTensor,
             .dtype = DType::kFp32,
             .payload_elements = e.s.tokens * numbers,
             .name = name},
            {values}, {values});
}

TensorId per_token(Emit& e, std::string_view name, std::int64_t numbers) {
  return e.out.tensor({.name = name, .dtype = DType::kFp32, .extents = {e.s.tokens, numbers, 1}});
}

/// Cross entropy over a vocabulary that tensor ranks share: maximum, logit of the target, sum of
/// exponentials (Megatron-LM). Keeps what the gradient of the logits needs.
void cross_entropy(Emit& e, TensorId logits) {
  const bool fused = e.s.kernels.fused_cross_entropy;
  const TensorId maximum = per_token(e, "maximum", 1);
  e.out.add(loss_pass(e, e.forward, "loss.maximum"), {logits}, {maximum});
  share_loss(e, maximum, 1, "loss.maximum");
  const TensorId sums = per_token(e, "target_and_sum", 2);
  const TensorId exponentials = fused ? logits : logits_tensor(e, "exponentials", DType::kFp32);
  e.out.add(loss_pass(e, e.forward, "loss.sum"), {logits, maximum}, {sums, exponentials});
  if (fused) {
    share_loss(e, sums, 2, "loss.target_and_sum");
  } else {
    share_loss(e, sums, 1, "loss.target");
    share_loss(e, sums, 1, "loss.sum");
  }
  e.kept.set(Keep::kLogits, exponentials);
}

void head_forward(Emit& e, TensorId x) {
  const TensorId rows = norm(e, x, {e.s.rows, e.s.model->hidden}, kFinalNorm);
  cross_entropy(e, column_linear(e, rows, Keep::kHeadInput, head_product(e.s)));
}

TensorId head_backward(Emit& e) {
  const TensorId d_logits = logits_tensor(e, "gradient", e.s.storage);
  e.out.add(loss_pass(e, Phase::kDataGradient, "loss.gradient"), {e.kept.get(Keep::kLogits)},
            {d_logits});
  const TensorId d_rows = column_linear_backward(e, d_logits, Keep::kHeadInput, head_product(e.s));
  return norm_backward(e, d_rows, {e.s.rows, e.s.model->hidden}, kFinalNorm);
}

}  // namespace

BlockPair build_head(const Setting& s, bool own_table) {
  const std::vector<LocalParameter> parameters = local_head_parameters(s, own_table);
  Unit forward(s, "head.forward", parameters);
  const TensorId x = forward.builder.input(residual_tensor(s, "residual"));
  Kept kept;
  Emit e{forward.builder, s, kept, Phase::kForward, forward.parameters, -1};
  head_forward(e, x);
  forward.builder.save(kept);

  Unit backward(s, "head.backward", parameters);
  Kept restored = backward.builder.restore(forward.builder, kept);
  backward.open_gradients();
  Emit b{backward.builder, s, restored, Phase::kForward, backward.parameters, backward.gradients};
  backward.builder.output(head_backward(b));
  backward.close_gradients();
  return {std::move(forward.builder.piece()), std::move(backward.builder.piece())};
}

namespace {

Operator neighbour_message(const Setting& s, OperatorKind kind, Direction direction) {
  const bool forward = direction == Direction::kForward;
  Stream stream = forward ? Stream::kPipelineForward : Stream::kPipelineBackward;
  if (kind == OperatorKind::kSend && !s.overlap.pipeline) stream = Stream::kCompute;
  return {.kind = kind,
          .phase = forward ? Phase::kForward : Phase::kDataGradient,
          .stream = stream,
          .scheme = Scheme::kPipeline,
          .group = GroupKind::kPipeline,
          .dtype = s.storage,
          .payload_elements = s.rows * s.model->hidden,
          .name = forward ? "pipeline.activation" : "pipeline.gradient"};
}

}  // namespace

Template build_send(const Setting& s, Direction direction) {
  TemplateBuilder builder("send", {});
  const TensorId x = builder.input(residual_tensor(s, "residual"));
  builder.add(neighbour_message(s, OperatorKind::kSend, direction), {x}, {});
  return std::move(builder.piece());
}

Template build_receive(const Setting& s, Direction direction) {
  TemplateBuilder builder("receive", {});
  const TensorId x = builder.tensor(residual_tensor(s, "residual"));
  builder.add(neighbour_message(s, OperatorKind::kReceive, direction), {}, {x});
  builder.output(x);
  return std::move(builder.piece());
}

}  // namespace stepwright
