#include "stepwright/core/divide_up.h"
#include "stepwright/step/blocks.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/prune.h"
#include "stepwright/step/unit.h"

namespace stepwright {
namespace {

constexpr NormRole kFinalNorm{Keep::kFinalInput, Keep::kFinalStatistics, LayerPart::kFinalNorm,
                              Keep::kFinalNormCopies};

Product head_product(const Setting& s) {
  return {.rows = s.tokens,
          .inner = s.model->hidden,
          .columns = s.vocabulary,
          .part = LayerPart::kHead,
          .wide = true};
}

/// Entries of the vocabulary over which a rank takes the loss.
std::int64_t loss_width(const Setting& s) {
  return s.kernels.gathered_logits ? s.vocabulary * s.tensor : s.vocabulary;
}

/// PyTorch's own loss over logits that are split by columns: DTensor's handlers of each operator,
/// which a compiler does not fuse (torch/distributed/tensor/parallel/loss.py).
bool by_handlers(const Setting& s) {
  return s.kernels.plain_loss && s.tensor_parallel() && !s.kernels.gathered_logits;
}

TensorId logits_tensor(Emit& e, std::string_view name, DType dtype, std::int64_t width) {
  return e.out.tensor({.name = name,
                       .kind = TensorKind::kLogits,
                       .dtype = dtype,
                       .extents = {e.s.tokens, width, 1}});
}

Operator loss_pass(const Emit& e, Phase phase, std::string_view name,
                   Purpose purpose = Purpose::kPlain) {
  return {.kind = OperatorKind::kLossLocal,
          .phase = phase,
          .dtype = e.s.exact,
          .shape = {.rows = e.s.tokens, .columns = loss_width(e.s)},
          .name = name,
          .purpose = purpose};
}

TensorId per_token(Emit& e, std::string_view name, std::int64_t numbers) {
  return activation(e, name, e.s.exact, e.s.tokens, numbers);
}

/// One of the small all-reduces of the vocabulary-parallel cross entropy: over the tensor ranks,
/// then over the positions that share the vocabulary.
void share_loss(Emit& e, TensorId values, std::string_view name, bool largest = false) {
  const auto share = [&](Scheme scheme, GroupKind group) {
    e.out.add({.kind = OperatorKind::kAllReduce,
               .phase = e.forward,
               .stream = message_stream(e.s, scheme),
               .scheme = scheme,
               .group = group,
               .dtype = e.s.exact,
               .largest = largest,
               .payload_elements = e.out.at(values).elements(),
               .name = name},
              {values}, {values});
  };
  if (e.s.kernels.gathered_logits) return;
  if (e.s.tensor_parallel()) share(Scheme::kTensor, GroupKind::kTensor);
  if (e.s.spread > 1) share(Scheme::kPipeline, GroupKind::kPipeline);
}

/// Cross entropy over a vocabulary that tensor ranks share: maximum, logit of the target, sum of
/// exponentials (Megatron-LM), the last two in one tensor when fused. Keeps what the gradient of
/// the logits needs. `held`: what stands beside them until it is done.
void cross_entropy(Emit& e, TensorId logits, TensorId held) {
  const bool fused = e.s.kernels.fused_cross_entropy && !by_handlers(e.s);
  const TensorId maximum = per_token(e, "maximum", 1);
  e.out.add(loss_pass(e, e.forward, "loss.maximum", Purpose::kLargestLogit), {logits}, {maximum});
  share_loss(e, maximum, "loss.maximum", true);
  const TensorId target = per_token(e, fused ? "target_and_sum" : "target", fused ? 2 : 1);
  const TensorId sum = fused ? target : per_token(e, "sum", 1);
  const bool capped = e.s.model->logit_cap > 0;
  const TensorId exponentials =
      fused && !capped ? logits : logits_tensor(e, "exponentials", e.s.exact, loss_width(e.s));
  e.out.add(loss_pass(e, e.forward, "loss.sum"), {logits, maximum, held},
            {target, fused ? TensorId{-1} : sum, exponentials});
  share_loss(e, target, fused ? "loss.target_and_sum" : "loss.target");
  if (!fused) share_loss(e, sum, "loss.sum");
  if (capped) e.kept.set(Keep::kWideLogits, logits);  // the slope of the cap is of them
  e.kept.set(Keep::kLogits, exponentials);
  e.kept.set(Keep::kLossTarget, target);
  e.kept.set(Keep::kLossSum, sum);
}

TensorId gather_logits(Emit& e, TensorId own) {
  if (!e.s.tensor_parallel()) return own;
  const TensorId all = logits_tensor(e, "gathered", e.s.storage, loss_width(e.s));
  // Rows of each rank, of which columns are made by a copy (_maybe_view_chunk_cat).
  const TensorId parts = e.s.kernels.plain_loss
                             ? logits_tensor(e, "parts", e.s.storage, loss_width(e.s))
                             : TensorId{-1};
  e.out.add({.kind = OperatorKind::kAllGather,
             .phase = e.forward,
             .stream = message_stream(e.s, Scheme::kTensor),
             .scheme = Scheme::kTensor,
             .group = GroupKind::kTensor,
             .dtype = e.s.storage,
             .payload_elements = e.s.tokens * loss_width(e.s),
             .name = "head.logits"},
            {own}, {all, parts});
  return all;
}

/// Whether the loss is taken of a copy of the logits in fp32.
bool is_plain(const Setting& s) {
  const Kernels& kernels = s.kernels;
  if (!kernels.plain_loss) return kernels.gathered_logits;
  return by_handlers(s) || !kernels.fused_cross_entropy;
}

/// Whether who calls the backward holds the model's result: in fp32 one over gathered logits, the
/// head's own where PyTorch's pipelines keep what stages give
/// (torch/distributed/pipelining/stage.py, fwd_cache).
bool holds_result(const Setting& s) {
  return s.kernels.plain_loss ? s.pipelined : s.kernels.gathered_logits;
}

/// The input of the loss: the rank's own logits or those of all tensor ranks, for a plain cross
/// entropy in fp32.
TensorId loss_input(Emit& e, TensorId own) {
  const TensorId all = e.s.kernels.gathered_logits ? gather_logits(e, own) : own;
  if (!is_plain(e.s)) return all;  // which the loss itself keeps
  const TensorId wide = logits_tensor(e, "logits", e.s.exact, loss_width(e.s));
  e.out.add(loss_pass(e, e.forward, "loss.cast"), {all}, {wide});
  if (holds_result(e.s)) e.kept.set(Keep::kWideLogits, e.s.kernels.plain_loss ? all : wide);
  return wide;
}

/// The gradient of the logits in fp32 as a plain cross entropy writes it: that of the
/// log-probabilities first. DTensor's handler adds the exponentials to it, and multiplies the sum.
TensorId wide_gradient(Emit& e) {
  const Phase phase = Phase::kDataGradient;
  const auto another = [&] { return logits_tensor(e, "gradient", e.s.exact, loss_width(e.s)); };
  const TensorId from = e.kept.get(Keep::kLogits);
  const TensorId first = another();
  e.out.add(loss_pass(e, phase, "loss.choice"), {}, {first});
  const TensorId second = another();
  const TensorId exponentials = by_handlers(e.s) ? another() : TensorId{-1};
  const TensorId held = holds_result(e.s) ? e.kept.get(Keep::kWideLogits) : TensorId{-1};
  e.out.add(loss_pass(e, phase, "loss.gradient"), {first, from, held}, {second, exponentials});
  return second;
}

/// The gradient of the logits, cast where it is made in fp32.
TensorId loss_gradient(Emit& e) {
  const bool compiled = by_handlers(e.s) && e.s.kernels.fused_cross_entropy;
  const bool wide = is_plain(e.s) && !compiled;
  const TensorId from = wide ? wide_gradient(e) : e.kept.get(Keep::kLogits);
  const TensorId gradient = logits_tensor(e, "gradient", e.s.storage, loss_width(e.s));
  const TensorId target = e.kept.get(Keep::kLossTarget);
  const TensorId sum = e.kept.get(Keep::kLossSum);
  e.out.add(loss_pass(e, Phase::kDataGradient, wide ? "loss.cast" : "loss.gradient"),
            {from, target, sum == target ? TensorId{-1} : sum,
             e.s.model->logit_cap > 0 ? e.kept.get(Keep::kWideLogits) : TensorId{-1}},
            {gradient});
  return gradient;
}

}  // namespace

void predict(Emit& e, TensorId x, const NormRole& role) {
  TensorId rows = x < 0 ? x : norm(e, x, {e.s.rows, e.s.model->hidden}, role);
  if (e.s.spread > 1) rows = hand_out(e, rows, e.forward, LayerPart::kHead);
  const TensorId own = column_linear(e, rows, Keep::kHeadInput, head_product(e.s));
  // Who calls PyTorch's own loss holds the model's result until it returns.
  const bool held = e.s.kernels.plain_loss && is_plain(e.s) && !e.s.kernels.gathered_logits;
  cross_entropy(e, loss_input(e, own), held ? own : TensorId{-1});
}

TensorId predict_backward(Emit& e, const NormRole& role, TensorId beside) {
  const TensorId d_logits = loss_gradient(e);
  const TensorId d_rows = column_linear_backward(e, d_logits, Keep::kHeadInput, head_product(e.s));
  if (e.s.spread > 1) {
    sum_over(e, Scheme::kPipeline, d_rows, Phase::kDataGradient, LayerPart::kHead);
  }
  if (!e.kept.has(role.input)) return -1;
  return norm_backward(e, d_rows, {e.s.rows, e.s.model->hidden}, role, beside);
}

BlockPair build_head(const Setting& s, bool own_table, bool at_end) {
  const std::vector<LocalParameter> parameters = local_head_parameters(s, own_table, at_end);
  Unit forward(s, "head.forward", parameters);
  const TensorId x = at_end ? forward.builder.input(residual_tensor(s, "residual")) : -1;
  Kept kept;
  Emit e{forward.builder, s, kept, Phase::kForward, forward.parameters, -1};
  predict(e, x, kFinalNorm);
  const bool is_last = s.model->predicted_ahead() == 0;
  if (!is_last) forward.builder.output(x);  // to the multi-token layers
  forward.builder.save(kept);

  Unit backward(s, "head.backward", parameters);
  const TensorId d_x =
      is_last ? TensorId{-1} : backward.builder.input(residual_tensor(s, "gradient"));
  Kept restored = backward.builder.restore(forward.builder, kept);
  backward.open_gradients();
  Emit b{backward.builder, s, restored, Phase::kForward, backward.parameters, backward.gradients};
  const TensorId gradient = predict_backward(b, kFinalNorm, d_x);
  if (at_end) backward.builder.output(gradient);
  backward.close_gradients();
  BlockPair pair{std::move(forward.builder.piece()), std::move(backward.builder.piece())};
  if (s.model->freezes()) {
    prune(pair, head_gradients(*s.model) == GradientPath::kThrough, false);
  }
  return pair;
}

namespace {

bool scatters_pipeline(const Setting& s) {
  return s.kernels.scattered_pipeline && s.tensor_parallel() && !s.sequence_parallel;
}

std::int64_t neighbour_elements(const Setting& s) {
  const std::int64_t whole = s.rows * s.model->hidden;
  return scatters_pipeline(s) ? divide_up(whole, s.tensor) : whole;
}

Operator pipeline_gather(const Setting& s, Direction direction) {
  return {.kind = OperatorKind::kAllGather,
          .phase = direction == Direction::kForward ? Phase::kForward : Phase::kDataGradient,
          .scheme = Scheme::kPipeline,
          .group = GroupKind::kTensor,
          .dtype = s.storage,
          .payload_elements = neighbour_elements(s) * s.tensor,
          .name = "pipeline.gather"};
}

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
          .payload_elements = neighbour_elements(s),
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

Template build_hand_over(const Setting& s) {
  TemplateBuilder builder("hand_over", {});
  builder.piece().saved.push_back(builder.input(residual_tensor(s, "residual")));
  return std::move(builder.piece());
}

Template build_take_over(const Setting& s) {
  TemplateBuilder builder("take_over", {});
  const TensorId x = builder.tensor(residual_tensor(s, "residual"));
  builder.piece().restored.push_back(x);
  builder.output(x);
  return std::move(builder.piece());
}

}  // namespace stepwright
