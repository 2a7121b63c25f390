#include "stepwright/step/vocabulary_part.h"

#include "stepwright/step/cross_entropy.h"

namespace stepwright::step {
namespace {

/// Loss terms of each token for one position's part of the vocabulary.
struct PartLoss {
  TensorId maximum = -1;
  TensorId sum = -1;  ///< Sum of exponentials relative to `maximum`.
  TensorId target = -1;
};

bool in_place(const StepBuildSettings& s) {
  return s.kernels.fused_loss() && s.model->logit_cap == 0;
}

/// Writes the passes over this part's logits; the tensor ranks that share the part sum their
/// results.
PartLoss take_part(ModelBlockBuildContext& e, TensorId logits) {
  const PartLoss part{create_loss_statistics_tensor(e, "maximum", 1),
                      create_loss_statistics_tensor(e, "sum", 1),
                      create_loss_statistics_tensor(e, "target", 1)};
  e.out.add(
      operator_passing_over_logits(e, e.forward, "loss.maximum", OperatorPurpose::kLargestLogit),
      {logits}, {part.maximum});
  all_reduce_over_tensor_ranks(e, part.maximum, "loss.maximum", true);
  const TensorId exponentials =
      in_place(e.s) ? logits
                    : logits_tensor(e, "exponentials", e.s.exact, loss_vocabulary_width(e.s));
  e.out.add(operator_passing_over_logits(e, e.forward, "loss.sum"), {logits, part.maximum},
            {part.target, part.sum, exponentials});
  all_reduce_over_tensor_ranks(e, part.target, "loss.target");
  all_reduce_over_tensor_ranks(e, part.sum, "loss.sum");
  if (e.s.model->logit_cap > 0) e.kept.set(KeptTensorRole::kWideLogits, logits);
  e.kept.set(KeptTensorRole::kLogits, exponentials);
  e.kept.set(KeptTensorRole::kPartMaximum, part.maximum);
  return part;
}

/// A part's share of the rows' gradient, before it is rescaled to the whole vocabulary: the product
/// of its softmax with its table, and the table's rows of the targets.
struct RowParts {
  TensorId softmax = -1;
  TensorId target = -1;
};

RowParts take_rows(ModelBlockBuildContext& e, const PartLoss& part, const MatrixProduct& p) {
  const TensorId exponentials = e.kept.get(KeptTensorRole::kLogits);
  const TensorId narrow =
      in_place(e.s) ? exponentials
                    : logits_tensor(e, "softmax", e.s.storage, loss_vocabulary_width(e.s));
  e.out.add(
      operator_passing_over_logits(e, e.forward, "loss.softmax", OperatorPurpose::kPartSoftmax),
      {exponentials, part.sum}, {exponentials, in_place(e.s) ? TensorId{-1} : narrow});
  const TensorParallelRegionCrossing crossing{p.inner, p.part, Phase::kDataGradient, true};
  RowParts rows;
  rows.softmax =
      exit_tensor_parallel_region(e, append_matrix_product_data_gradient(e, narrow, p), crossing);
  const TensorId target = create_activation_tensor(e, "target_rows", e.s.tokens, p.inner);
  e.out.add({.kind = OperatorKind::kEmbedding,
             .phase = e.forward,
             .dtype = e.s.storage,
             .shape = {.rows = e.s.tokens, .columns = p.inner, .inner = p.columns},
             .part = p.part,
             .purpose = OperatorPurpose::kTargetRows,
             .parameter = e.out.parameter_of_layer_part(p.part)},
            {e.parameters}, {target});
  rows.target = exit_tensor_parallel_region(e, target, crossing);
  e.kept.set(KeptTensorRole::kPartSum, part.sum);
  return rows;
}

/// Returns `op` as a computation on the stream of the messages between positions.
Operator between(const ModelBlockBuildContext& e, Operator op) {
  op.phase = e.forward;
  op.stream = stream_of_messages(e.s, ParallelismScheme::kPipeline);
  return op;
}

/// Writes the loss's messages between positions: the largest logit, then the sum of exponentials
/// relative to it and the target's logit. Returns the sum.
TensorId exchange(ModelBlockBuildContext& e, const PartLoss& part) {
  const TensorId largest = create_loss_statistics_tensor(e, "largest", 1);
  all_reduce_over_positions(e, part.maximum, largest, "loss.maximum", true);
  const TensorId total = create_loss_statistics_tensor(e, "total", 1);
  e.out.add(between(e, {.kind = OperatorKind::kLossLocal,
                        .dtype = e.s.exact,
                        .shape = {.rows = loss_chunk_tokens(e), .columns = 1},
                        .name = "loss.sum",
                        .purpose = OperatorPurpose::kPartSum}),
            {part.sum, part.maximum, largest}, {total});
  all_reduce_over_positions(e, total, total, "loss.sum");
  all_reduce_over_positions(e, part.target, part.target, "loss.target");
  e.kept.set(KeptTensorRole::kLossMaximum, largest);
  e.kept.set(KeptTensorRole::kLossSum, total);
  e.kept.set(KeptTensorRole::kLossTarget, part.target);
  return total;
}

}  // namespace

void append_vocabulary_shard_loss(ModelBlockBuildContext& e, TensorId logits,
                                  const MatrixProduct& product) {
  const PartLoss part = take_part(e, logits);
  const RowParts rows = e.s.barriers == 1 ? take_rows(e, part, product) : RowParts{};
  const TensorId total = exchange(e, part);
  if (e.s.barriers > 1) return;
  e.out.add(between(e, {.kind = OperatorKind::kAdd,
                        .dtype = e.s.storage,
                        .shape = {.rows = e.s.rows, .columns = product.inner},
                        .part = product.part,
                        .purpose = OperatorPurpose::kPartGradient}),
            {rows.softmax, rows.target, part.sum, part.maximum,
             e.kept.get(KeptTensorRole::kLossMaximum), total},
            {rows.softmax});
  append_all_reduce(e, ParallelismScheme::kPipeline, rows.softmax, Phase::kDataGradient,
                    LayerPart::kHead);
  e.kept.set(KeptTensorRole::kHeadRowGradient, rows.softmax);
}

TensorId append_vocabulary_shard_gradient(ModelBlockBuildContext& e) {
  const TensorId gradient = logits_tensor(e, "gradient", e.s.storage, loss_vocabulary_width(e.s));
  e.out.add(operator_passing_over_logits(e, Phase::kDataGradient, "loss.gradient"),
            {e.kept.get(KeptTensorRole::kLogits), e.kept.get(KeptTensorRole::kLossTarget),
             e.kept.get(KeptTensorRole::kLossSum), e.kept.get(KeptTensorRole::kPartMaximum),
             e.kept.get(KeptTensorRole::kLossMaximum), e.kept.get(KeptTensorRole::kPartSum),
             e.kept.get(KeptTensorRole::kWideLogits)},
            {gradient});
  return gradient;
}

}  // namespace stepwright::step
