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

bool in_place(const Setting& s) { return s.kernels.fused_loss() && s.model->logit_cap == 0; }

/// Writes the passes over this part's logits; the tensor ranks that share the part sum their
/// results.
PartLoss take_part(BlockBuildContext& e, TensorId logits) {
  const PartLoss part{create_loss_statistics_tensor(e, "maximum", 1),
                      create_loss_statistics_tensor(e, "sum", 1),
                      create_loss_statistics_tensor(e, "target", 1)};
  e.out.add(logits_pass_operator(e, e.forward, "loss.maximum", Purpose::kLargestLogit), {logits},
            {part.maximum});
  all_reduce_over_tensor_ranks(e, part.maximum, "loss.maximum", true);
  const TensorId exponentials =
      in_place(e.s) ? logits
                    : logits_tensor(e, "exponentials", e.s.exact, loss_vocabulary_width(e.s));
  e.out.add(logits_pass_operator(e, e.forward, "loss.sum"), {logits, part.maximum},
            {part.target, part.sum, exponentials});
  all_reduce_over_tensor_ranks(e, part.target, "loss.target");
  all_reduce_over_tensor_ranks(e, part.sum, "loss.sum");
  if (e.s.model->logit_cap > 0) e.kept.set(Keep::kWideLogits, logits);
  e.kept.set(Keep::kLogits, exponentials);
  e.kept.set(Keep::kPartMaximum, part.maximum);
  return part;
}

/// A part's share of the rows' gradient, before it is rescaled to the whole vocabulary: the product
/// of its softmax with its table, and the table's rows of the targets.
struct RowParts {
  TensorId softmax = -1;
  TensorId target = -1;
};

RowParts take_rows(BlockBuildContext& e, const PartLoss& part, const Product& p) {
  const TensorId exponentials = e.kept.get(Keep::kLogits);
  const TensorId narrow =
      in_place(e.s) ? exponentials
                    : logits_tensor(e, "softmax", e.s.storage, loss_vocabulary_width(e.s));
  e.out.add(logits_pass_operator(e, e.forward, "loss.softmax", Purpose::kPartSoftmax),
            {exponentials, part.sum}, {exponentials, in_place(e.s) ? TensorId{-1} : narrow});
  const TensorRegionCrossing crossing{p.inner, p.part, Phase::kDataGradient, true};
  RowParts rows;
  rows.softmax = leave_tensor_region(e, append_product_data_gradient(e, narrow, p), crossing);
  const TensorId target = activation(e, "target_rows", e.s.tokens, p.inner);
  e.out.add({.kind = OperatorKind::kEmbedding,
             .phase = e.forward,
             .dtype = e.s.storage,
             .shape = {.rows = e.s.tokens, .columns = p.inner, .inner = p.columns},
             .part = p.part,
             .purpose = Purpose::kTargetRows,
             .parameter = e.out.parameter(p.part)},
            {e.parameters}, {target});
  rows.target = leave_tensor_region(e, target, crossing);
  e.kept.set(Keep::kPartSum, part.sum);
  return rows;
}

/// Returns `op` as a computation on the stream of the messages between positions.
Operator between(const BlockBuildContext& e, Operator op) {
  op.phase = e.forward;
  op.stream = message_stream(e.s, Scheme::kPipeline);
  return op;
}

/// Writes the loss's messages between positions: the largest logit, then the sum of exponentials
/// relative to it and the target's logit. Returns the sum.
TensorId exchange(BlockBuildContext& e, const PartLoss& part) {
  const TensorId largest = create_loss_statistics_tensor(e, "largest", 1);
  all_reduce_over_positions(e, part.maximum, largest, "loss.maximum", true);
  const TensorId total = create_loss_statistics_tensor(e, "total", 1);
  e.out.add(between(e, {.kind = OperatorKind::kLossLocal,
                        .dtype = e.s.exact,
                        .shape = {.rows = loss_chunk_tokens(e), .columns = 1},
                        .name = "loss.sum",
                        .purpose = Purpose::kPartSum}),
            {part.sum, part.maximum, largest}, {total});
  all_reduce_over_positions(e, total, total, "loss.sum");
  all_reduce_over_positions(e, part.target, part.target, "loss.target");
  e.kept.set(Keep::kLossMaximum, largest);
  e.kept.set(Keep::kLossSum, total);
  e.kept.set(Keep::kLossTarget, part.target);
  return total;
}

}  // namespace

void build_vocabulary_shard_loss(BlockBuildContext& e, TensorId logits, const Product& product) {
  const PartLoss part = take_part(e, logits);
  const RowParts rows = e.s.barriers == 1 ? take_rows(e, part, product) : RowParts{};
  const TensorId total = exchange(e, part);
  if (e.s.barriers > 1) return;
  e.out.add(
      between(e, {.kind = OperatorKind::kAdd,
                  .dtype = e.s.storage,
                  .shape = {.rows = e.s.rows, .columns = product.inner},
                  .part = product.part,
                  .purpose = Purpose::kPartGradient}),
      {rows.softmax, rows.target, part.sum, part.maximum, e.kept.get(Keep::kLossMaximum), total},
      {rows.softmax});
  append_all_reduce(e, Scheme::kPipeline, rows.softmax, Phase::kDataGradient, LayerPart::kHead);
  e.kept.set(Keep::kHeadRowGradient, rows.softmax);
}

TensorId build_vocabulary_shard_grad(BlockBuildContext& e) {
  const TensorId gradient = logits_tensor(e, "gradient", e.s.storage, loss_vocabulary_width(e.s));
  e.out.add(logits_pass_operator(e, Phase::kDataGradient, "loss.gradient"),
            {e.kept.get(Keep::kLogits), e.kept.get(Keep::kLossTarget), e.kept.get(Keep::kLossSum),
             e.kept.get(Keep::kPartMaximum), e.kept.get(Keep::kLossMaximum),
             e.kept.get(Keep::kPartSum), e.kept.get(Keep::kWideLogits)},
            {gradient});
  return gradient;
}

}  // namespace stepwright::step
