#include "stepwright/step/cross_entropy.h"

#include <vector>

#include "stepwright/core/divide_up.h"
#include "stepwright/step/document_loss.h"

namespace stepwright::step {

std::int64_t loss_vocabulary_width(const StepBuildSettings& s) {
  return s.kernels.gathered_logits ? s.vocabulary * s.tensor : s.vocabulary;
}

TensorId logits_tensor(ModelBlockBuildContext& e, std::string_view name, DType dtype,
                       std::int64_t width) {
  return e.out.tensor({.name = name,
                       .kind = TensorPurpose::kLogits,
                       .dtype = dtype,
                       .extents = {loss_chunk_tokens(e), width, 1}});
}

Operator operator_passing_over_logits(const ModelBlockBuildContext& e, Phase phase,
                                      std::string_view name, OperatorPurpose purpose) {
  return {.kind = OperatorKind::kLossLocal,
          .phase = phase,
          .dtype = e.s.exact,
          .shape = {.rows = loss_chunk_tokens(e), .columns = loss_vocabulary_width(e.s)},
          .rows = e.rows,
          .name = name,
          .purpose = purpose};
}

namespace {

/// True for PyTorch's own loss over logits that are split by columns: DTensor handles each operator
/// by itself, and a compiler does not fuse them (torch/distributed/tensor/parallel/loss.py).
bool by_handlers(const StepBuildSettings& s) {
  return s.kernels.plain_loss && s.tensor_parallel() && !s.kernels.gathered_logits;
}

/// True if the kernels of Megatron-Core work on a copy of the logits in fp32.
bool is_native(const StepBuildSettings& s) {
  return s.kernels.cross_entropy == plan::CrossEntropyKernel::kNative && !s.kernels.plain_loss;
}

/// Writes the passes over the loss's input: maximum, logit of the target, sum of exponentials
/// (Megatron-LM), the last two in one tensor when fused. Keeps what the gradient of the logits
/// needs. `held`: tensors that stay in memory until the loss is done.
void take_loss(ModelBlockBuildContext& e, TensorId logits, std::span<const TensorId> held) {
  const bool fused = e.s.kernels.fused_loss() && !by_handlers(e.s);
  const TensorId maximum = create_loss_statistics_tensor(e, "maximum", 1);
  e.out.add(
      operator_passing_over_logits(e, e.forward, "loss.maximum", OperatorPurpose::kLargestLogit),
      {logits}, {maximum});
  all_reduce_loss_statistics(e, maximum, "loss.maximum", true);
  const TensorId target =
      create_loss_statistics_tensor(e, fused ? "target_and_sum" : "target", fused ? 2 : 1);
  const TensorId sum = fused ? target : create_loss_statistics_tensor(e, "sum", 1);
  const bool capped = e.s.model->logit_cap > 0;
  const TensorId exponentials =
      fused && !capped && !is_native(e.s)
          ? logits
          : logits_tensor(e, "exponentials", e.s.exact, loss_vocabulary_width(e.s));
  std::vector<TensorId> reads = {logits, maximum};
  if (e.s.head_beside_loss) reads.push_back(e.parameters);
  reads.insert(reads.end(), held.begin(), held.end());
  const TensorId writes[] = {target, fused ? TensorId{-1} : sum, exponentials};
  e.out.add(operator_passing_over_logits(e, e.forward, "loss.sum"), reads, writes);
  all_reduce_loss_statistics(e, target, fused ? "loss.target_and_sum" : "loss.target");
  if (!fused) all_reduce_loss_statistics(e, sum, "loss.sum");
  if (capped)
    e.kept.set(KeptTensorRole::kWideLogits, logits);  // the gradient of the cap needs them
  e.kept.set(KeptTensorRole::kLogits, exponentials);
  e.kept.set(KeptTensorRole::kLossTarget, target);
  e.kept.set(KeptTensorRole::kLossSum, sum);
}

TensorId gather_logits(ModelBlockBuildContext& e, TensorId own) {
  if (!e.s.tensor_parallel()) return own;
  const TensorId all = logits_tensor(e, "gathered", e.s.storage, loss_vocabulary_width(e.s));
  // The rows gathered from each rank; a copy joins their columns (_maybe_view_chunk_cat).
  const TensorId parts = e.s.kernels.plain_loss
                             ? logits_tensor(e, "parts", e.s.storage, loss_vocabulary_width(e.s))
                             : TensorId{-1};
  e.out.add({.kind = OperatorKind::kAllGather,
             .phase = e.forward,
             .stream = stream_of_messages(e.s, ParallelismScheme::kTensor),
             .scheme = ParallelismScheme::kTensor,
             .group = plan::CommunicatorKind::kTensor,
             .dtype = e.s.storage,
             .payload_elements = loss_chunk_tokens(e) * loss_vocabulary_width(e.s),
             .name = "head.logits"},
            {own}, {all, parts});
  return all;
}

/// True if the loss is computed from a copy of the logits in fp32.
bool is_plain(const StepBuildSettings& s) {
  const plan::FrameworkKernels& kernels = s.kernels;
  if (!kernels.plain_loss) return kernels.gathered_logits;
  return by_handlers(s) || !kernels.fused_loss();
}

/// True if the caller of the backward still holds the model's output: gathered logits in fp32, or
/// the head's own logits if PyTorch's pipelining keeps the outputs of stages
/// (torch/distributed/pipelining/stage.py, fwd_cache). With a loss in chunks models output no
/// logits, but a loss that also computes gradients in its forward holds the logits of one chunk
/// meanwhile (torchtitan 0.3.0 torchtitan/components/loss.py, ChunkedLossWrapper).
bool holds_result(const StepBuildSettings& s) {
  if (computes_loss_in_chunks(s)) {
    return s.kernels.plain_loss && s.kernels.loss_keeps == plan::LossSavedTensors::kGradients;
  }
  return s.kernels.plain_loss ? s.pipelined : s.kernels.gathered_logits;
}

/// Returns the loss's input: the rank's own logits, or the logits gathered from all tensor ranks;
/// in fp32 for a plain cross entropy.
TensorId loss_input(ModelBlockBuildContext& e, TensorId own) {
  const TensorId all = e.s.kernels.gathered_logits ? gather_logits(e, own) : own;
  if (!is_plain(e.s)) return all;  // the loss itself keeps these logits
  const TensorId wide = logits_tensor(e, "logits", e.s.exact, loss_vocabulary_width(e.s));
  e.out.add(operator_passing_over_logits(e, e.forward, "loss.cast"), {all}, {wide});
  if (holds_result(e.s))
    e.kept.set(KeptTensorRole::kWideLogits, e.s.kernels.plain_loss ? all : wide);
  return wide;
}

/// Writes the fp32 gradient of the logits as a plain cross entropy computes it: first the gradient
/// of the log-probabilities. DTensor's handler adds the exponentials to it and multiplies the sum.
TensorId wide_gradient(ModelBlockBuildContext& e) {
  const Phase phase = Phase::kDataGradient;
  const auto another = [&] {
    return logits_tensor(e, "gradient", e.s.exact, loss_vocabulary_width(e.s));
  };
  const TensorId from = e.kept.get(KeptTensorRole::kLogits);
  const TensorId first = another();
  e.out.add(operator_passing_over_logits(e, phase, "loss.choice"), {}, {first});
  const TensorId second = another();
  const TensorId exponentials = by_handlers(e.s) ? another() : TensorId{-1};
  const TensorId held = holds_result(e.s) ? e.kept.get(KeptTensorRole::kWideLogits) : TensorId{-1};
  e.out.add(operator_passing_over_logits(e, phase, "loss.gradient"), {first, from, held},
            {second, exponentials});
  return second;
}

}  // namespace

bool computes_loss_in_chunks(const StepBuildSettings& s) {
  return s.kernels.loss_chunks != 1 || s.kernels.loss_keeps != plan::LossSavedTensors::kLogits;
}

std::int64_t loss_chunk_tokens(const ModelBlockBuildContext& e) {
  return e.rows.count > 0 ? e.rows.count : e.s.tokens;
}

TensorId create_loss_statistics_tensor(ModelBlockBuildContext& e, std::string_view name,
                                       std::int64_t numbers) {
  return create_activation_tensor(e, name, e.s.exact, loss_chunk_tokens(e), numbers);
}

namespace {

/// Returns an all-reduce of per-token numbers over the tensor ranks or pipeline positions.
Operator shared(const ModelBlockBuildContext& e, ParallelismScheme scheme, TensorId values,
                std::string_view name, bool largest) {
  return {.kind = OperatorKind::kAllReduce,
          .phase = e.forward,
          .stream = stream_of_messages(e.s, scheme),
          .scheme = scheme,
          .group = scheme == ParallelismScheme::kTensor ? plan::CommunicatorKind::kTensor
                                                        : plan::CommunicatorKind::kPipeline,
          .dtype = e.s.exact,
          .largest = largest,
          .payload_elements = e.out.at(values).elements(),
          .name = name};
}

}  // namespace

void all_reduce_over_tensor_ranks(ModelBlockBuildContext& e, TensorId values, std::string_view name,
                                  bool largest) {
  if (!e.s.tensor_parallel()) return;
  e.out.add(shared(e, ParallelismScheme::kTensor, values, name, largest), {values}, {values});
}

void all_reduce_over_positions(ModelBlockBuildContext& e, TensorId values, TensorId into,
                               std::string_view name, bool largest) {
  e.out.add(shared(e, ParallelismScheme::kPipeline, values, name, largest), {values}, {into});
}

void all_reduce_loss_statistics(ModelBlockBuildContext& e, TensorId values, std::string_view name,
                                bool largest, std::int64_t messages) {
  const auto share = [&](ParallelismScheme scheme) {
    Operator op = shared(e, scheme, values, name, largest);
    op.payload_elements = ceil_divide(op.payload_elements, messages);
    op.repeats = messages;
    e.out.add(op, {values}, {values});
  };
  if (e.s.kernels.gathered_logits) return;
  if (e.s.tensor_parallel()) share(ParallelismScheme::kTensor);
  if (e.s.spread > 1) share(ParallelismScheme::kPipeline);
}

void append_cross_entropy(ModelBlockBuildContext& e, TensorId own,
                          std::span<const TensorId> beside) {
  if (e.s.kernels.document_loss) return append_per_document_loss(e, own);
  // The caller of PyTorch's own loss over whole logits holds the model's output until the loss
  // returns.
  const bool holds_own = e.s.kernels.plain_loss && is_plain(e.s) && !e.s.kernels.gathered_logits &&
                         !computes_loss_in_chunks(e.s);
  const TensorId input = loss_input(e, own);
  take_loss(e, input, holds_own ? std::span<const TensorId>(&own, 1) : beside);
}

TensorId append_cross_entropy_backward(ModelBlockBuildContext& e) {
  if (e.s.kernels.document_loss) return append_per_document_loss_gradient(e);
  const bool compiled = by_handlers(e.s) && e.s.kernels.fused_loss();
  const bool wide = is_plain(e.s) && !compiled;
  const TensorId from = wide ? wide_gradient(e) : e.kept.get(KeptTensorRole::kLogits);
  // Liger's and Transformer Engine's kernels overwrite the logits with their gradient.
  const bool writes_over = e.s.kernels.loss_keeps == plan::LossSavedTensors::kGradients ||
                           e.s.kernels.cross_entropy == plan::CrossEntropyKernel::kTe;
  const bool in_place = writes_over && !is_plain(e.s) && e.s.kernels.fused_loss() &&
                        !is_native(e.s) && e.s.model->logit_cap == 0;
  const TensorId gradient =
      in_place ? from : logits_tensor(e, "gradient", e.s.storage, loss_vocabulary_width(e.s));
  const TensorId target = e.kept.get(KeptTensorRole::kLossTarget);
  const TensorId sum = e.kept.get(KeptTensorRole::kLossSum);
  e.out.add(
      operator_passing_over_logits(e, Phase::kDataGradient, wide ? "loss.cast" : "loss.gradient"),
      {from, target, sum == target ? TensorId{-1} : sum,
       e.s.model->logit_cap > 0 ? e.kept.get(KeptTensorRole::kWideLogits) : TensorId{-1}},
      {gradient, is_native(e.s)
                     ? logits_tensor(e, "gradient", e.s.exact, loss_vocabulary_width(e.s))
                     : TensorId{-1}});
  return gradient;
}

}  // namespace stepwright::step
