#include "stepwright/step/loss.h"

#include <algorithm>
#include <bit>

#include "stepwright/core/divide_up.h"
#include "stepwright/step/adapter.h"
#include "stepwright/step/cross_entropy.h"
#include "stepwright/step/vocabulary_part.h"

namespace stepwright::step {
namespace {

MatrixProduct head_product(const ModelBlockBuildContext& e) {
  return {.rows = loss_chunk_tokens(e),
          .inner = e.s.model->hidden,
          .columns = e.s.vocabulary,
          .part = LayerPart::kHead,
          .wide = true};
}

/// Returns the chunks of tokens; if they cannot all be equal, the first ones have one token more
/// (torch.tensor_split).
std::vector<IndexRange> chunks_of(const StepBuildSettings& s) {
  const std::int64_t count = loss_token_chunk_count(s);
  std::vector<IndexRange> chunks;
  for (std::int64_t i = 0, first = 0; i < count; ++i) {
    const std::int64_t rows = s.tokens / count + (i < s.tokens % count ? 1 : 0);
    chunks.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(rows)});
    first += rows;
  }
  return chunks;
}

/// Returns a copy of `e` for the rows of one chunk and the tensors that the chunk keeps.
ModelBlockBuildContext part_of(const ModelBlockBuildContext& e, IndexRange rows, KeptTensors& kept,
                               Phase forward) {
  return {.out = e.out,
          .s = e.s,
          .kept = kept,
          .forward = forward,
          .parameters = e.parameters,
          .gradients = e.gradients,
          .rows = rows};
}

bool is_trained_head(const ModelBlockBuildContext& e) {
  return is_block_parameter_trained(e, e.out.parameter_of_layer_part(LayerPart::kHead));
}

/// True if a Python program runs the forward and backward of each chunk in turn, and copies the
/// gradient of each chunk's rows into an fp32 buffer (torchtitan 0.3.0
/// torchtitan/components/loss.py, ChunkedLossWrapper, GradAccumulator); false: one kernel does all.
bool loops_over_chunks(const ModelBlockBuildContext& e) {
  const plan::FrameworkKernels& kernels = e.s.kernels;
  return kernels.plain_loss && !kernels.fused_accumulation &&
         kernels.loss_keeps == plan::LossSavedTensors::kGradients;
}

/// The gradients of a loss in chunks; each chunk adds its own part.
struct HeadGradients {
  TensorId rows = -1;
  /// Gradient of the head's weight, if the forward computes it; -1: it is added to the step's
  /// gradient.
  TensorId weight = -1;
  /// Tensors that variables of the loop over chunks keep alive until it returns: the rows of all
  /// chunks, copies of them, the logits of the last chunk and the gradient of its rows.
  std::vector<TensorId> variables = {};
};

HeadGradients held_gradients(ModelBlockBuildContext& e) {
  const MatrixProduct all = head_product(e);
  HeadGradients held{
      .rows = loops_over_chunks(e)
                  ? create_activation_tensor(e, "wide_gradient", e.s.exact, all.rows, all.inner)
                  : create_matrix_product_result(e, "gradient", all, all.inner)};
  if (!is_trained_head(e)) return held;
  // FSDP2 sums gradients that are not reduced yet in the type of its reductions
  // (torch/distributed/fsdp/_fully_shard/_fsdp_param.py, to_accumulated_grad_if_needed).
  const DType type = e.s.copies_gradients ? e.s.gradient : e.s.storage;
  held.weight = create_activation_tensor(e, "weight_gradient", type, all.columns, all.inner);
  return held;
}

/// Adds a chunk's weight gradient to the held sum of all chunks.
void add_held_gradient(ModelBlockBuildContext& e, TensorId dy, TensorId x, TensorId into) {
  const MatrixProduct p = head_product(e);
  Operator op = matrix_product_operator(e, Phase::kWeightGradient, p);
  op.purpose = OperatorPurpose::kHeldGradient;
  const bool apart = e.out.at(into).dtype != e.s.storage;
  e.out.add(op, {dy, x},
            {into, apart ? create_activation_tensor(e, "weight_gradient", p.columns, p.inner)
                         : TensorId{-1}});
}

/// Writes a chunk's weight gradient. For each chunk after the first, autograd keeps the new
/// gradient in addition to the sum, and adds both into a third tensor: both are views, which it
/// does not overwrite (pytorch/pytorch 2.13 torch/csrc/autograd/input_buffer.cpp,
/// can_accumulate_inplace).
void chunk_weight_gradient(ModelBlockBuildContext& e, TensorId dy, TensorId x, TensorId into) {
  const MatrixProduct p = head_product(e);
  if (!is_trained_head(e)) return;
  if (into >= 0) return add_held_gradient(e, dy, x, into);
  const Operator op = matrix_product_operator(e, Phase::kWeightGradient, p);
  if (e.s.kernels.fused_accumulation || e.rows.first == 0) {
    return append_weight_gradient_operator(e, op, dy, x, -1);
  }
  const TensorId part = create_activation_tensor(e, "weight_gradient", p.columns, p.inner);
  e.out.add(op, {dy, x}, {part, e.gradients});
  e.out.add({.kind = OperatorKind::kAccumulate,
             .phase = Phase::kWeightGradient,
             .dtype = e.s.storage,
             .shape = {.rows = p.inner, .columns = p.columns},
             .rows = e.rows,
             .part = p.part,
             .parameter = op.parameter},
            {part, e.gradients},
            {e.gradients, create_activation_tensor(e, "weight_gradient", p.columns, p.inner)});
}

/// Returns tensors that an operator reads, and the variables of the loop over chunks, which stay in
/// memory until the operator ends.
std::vector<TensorId> with_variables(std::vector<TensorId> reads, const HeadGradients& held) {
  reads.insert(reads.end(), held.variables.begin(), held.variables.end());
  return reads;
}

/// Copies the held gradient of all chunks into the buffer of its reduction. The held gradient stays
/// in memory meanwhile (pytorch/pytorch 2.13
/// torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce: the last gradient of a
/// group is in a variable of its loop).
void copy_for_reduction(ModelBlockBuildContext& e, const HeadGradients& held) {
  if (held.weight < 0 || !e.s.copies_gradients) return;
  const MatrixProduct p = head_product(e);
  const TensorId copy = e.out.tensor({.name = "reduction",
                                      .kind = TensorPurpose::kCommunication,
                                      .dtype = e.s.gradient,
                                      .extents = {p.columns, p.inner, 1}});
  const std::int64_t shard = ceil_divide(p.columns * p.inner, e.s.dense_blocks);
  const TensorId reduced = e.out.tensor({.name = "reduced",
                                         .kind = TensorPurpose::kCommunication,
                                         .dtype = e.s.gradient,
                                         .extents = {shard, 1, 1}});
  const std::vector<TensorId> reads = with_variables({held.weight, e.parameters, held.rows}, held);
  const TensorId writes[] = {copy, reduced};
  e.out.add({.kind = OperatorKind::kAccumulate,
             .phase = Phase::kWeightGradient,
             .dtype = e.s.gradient,
             .shape = {.rows = p.inner, .columns = p.columns},
             .part = p.part,
             .purpose = OperatorPurpose::kHeldGradient,
             .parameter = e.out.parameter_of_layer_part(p.part)},
            reads, writes);
}

/// Returns the operator that copies rows of the head's input, or gradients of them.
Operator row_copy(const ModelBlockBuildContext& e, Phase phase) {
  return {.kind = OperatorKind::kUnpack,
          .phase = phase,
          .dtype = e.s.storage,
          .shape = {.rows = loss_chunk_tokens(e), .columns = e.s.model->hidden},
          .part = LayerPart::kHead};
}

/// Copies each chunk's rows out of the rows of all chunks, if a batch has several sequences: chunks
/// of one sequence are views.
void copy_chunks(ModelBlockBuildContext& e, TensorId x, HeadGradients& held) {
  held.variables.push_back(x);
  if (e.s.batch == 1) return;
  const TensorId copies =
      create_activation_tensor(e, "chunks", loss_chunk_tokens(e), e.s.model->hidden);
  e.out.add(row_copy(e, e.forward), {x}, {copies});
  held.variables.push_back(copies);
}

/// Converts the fp32 gradient of all rows to the type of storage after the loop over chunks.
void narrow_held_rows(ModelBlockBuildContext& e, HeadGradients& held) {
  const std::vector<TensorId> reads = with_variables({held.rows}, held);
  const TensorId narrow[] = {
      create_activation_tensor(e, "gradient", loss_chunk_tokens(e), e.s.model->hidden)};
  e.out.add(row_copy(e, Phase::kDataGradient), reads, narrow);
  held.rows = narrow[0];
}

void chunk_forward(ModelBlockBuildContext& e, TensorId x) {
  append_cross_entropy(e, append_matrix_product(e, x, head_product(e)));
}

/// Writes a chunk's backward. Returns the gradient of the chunk's rows if it is a separate tensor,
/// else -1.
TensorId chunk_backward(ModelBlockBuildContext& e, TensorId x, const HeadGradients& into) {
  const TensorId dy = append_cross_entropy_backward(e);
  const bool apart = loops_over_chunks(e);
  const TensorId own =
      append_matrix_product_data_gradient(e, dy, head_product(e), -1, apart ? -1 : into.rows);
  chunk_weight_gradient(e, dy, x, into.weight);
  if (!apart) return -1;
  const TensorId wide = create_activation_tensor(e, "wide_gradient", e.s.exact,
                                                 loss_chunk_tokens(e), e.s.model->hidden);
  e.out.add(row_copy(e, Phase::kDataGradient), {own}, {into.rows, wide});
  return own;
}

/// Returns a product whose logits stay on the chip, with the loss computed from them.
Operator on_chip(const ModelBlockBuildContext& e, Phase phase) {
  Operator op = matrix_product_operator(e, phase, head_product(e));
  op.purpose = OperatorPurpose::kOnChip;
  return op;
}

/// Rows of one tile of logits in TRL's fused head (trl 1.16.0 trl/kernels/chunked_logprob.py,
/// TOKEN_CHUNK_SIZE; trl/trainer/utils.py, _CHUNKED_LOGPROB_CHUNK_SIZE).
constexpr std::int64_t kTileRows = 4096;
constexpr std::int64_t kTileColumns = 32768;

bool in_tiles(const ModelBlockBuildContext& e) {
  return e.s.kernels.loss_keeps == plan::LossSavedTensors::kTiles;
}

/// Creates the buffer of a tile of logits; -1 if logits are never written.
TensorId tile_buffer(ModelBlockBuildContext& e) {
  if (!in_tiles(e)) return -1;
  return e.out.tensor({.name = "tile",
                       .kind = TensorPurpose::kLogits,
                       .dtype = e.s.storage,
                       .extents = {std::min(loss_chunk_tokens(e), kTileRows),
                                   std::min(loss_vocabulary_width(e.s), kTileColumns), 1}});
}

/// Creates the fp32 sum of gradients of a loss in tiles; -1 for any other loss.
TensorId exact_sum(ModelBlockBuildContext& e, std::int64_t rows, std::int64_t columns) {
  return in_tiles(e) ? create_activation_tensor(e, "wide_sum", e.s.exact, rows, columns)
                     : TensorId{-1};
}

/// Writes the forward of a loss on chip. Keeps the largest logarithm among the ranks' sums of
/// exponentials, the sum of all those sums relative to it, and the logit of the target
/// (cut_cross_entropy/vocab_parallel/utils.py).
void on_chip_forward(ModelBlockBuildContext& e, TensorId x) {
  const TensorId own = create_loss_statistics_tensor(e, "sum", 1);
  const TensorId target = create_loss_statistics_tensor(e, "target", 1);
  const TensorId maximum = create_loss_statistics_tensor(e, "maximum", 1);
  e.out.add(on_chip(e, Phase::kForward), {x, e.parameters}, {own, target, maximum, tile_buffer(e)});
  all_reduce_loss_statistics(e, maximum, "loss.maximum", true);
  const TensorId sum = create_loss_statistics_tensor(e, "sum", 1);
  Operator rescaling = computation(e, OperatorKind::kLossLocal, Phase::kForward, LayerPart::kNone,
                                   {.rows = loss_chunk_tokens(e), .columns = 1});
  rescaling.dtype = e.s.exact;
  rescaling.name = "loss.sum";
  rescaling.purpose = OperatorPurpose::kOnChip;
  e.out.add(rescaling, {own, maximum}, {sum});
  all_reduce_loss_statistics(e, sum, "loss.sum");
  all_reduce_loss_statistics(e, target, "loss.target");
  e.kept.set(KeptTensorRole::kLogits, maximum);
  e.kept.set(KeptTensorRole::kLossTarget, target);
  e.kept.set(KeptTensorRole::kLossSum, sum);
}

/// Writes the backward of a loss on chip: one kernel with three products, the logits again and both
/// gradients of each block of logits (apple/ml-cross-entropy cut_cross_entropy/cce_backward.py).
/// The kernel skips blocks whose gradients round to zero; as their number is unknown, all blocks
/// are counted.
void on_chip_backward(ModelBlockBuildContext& e, TensorId x, const HeadGradients& into) {
  const TensorId maximum = e.kept.get(KeptTensorRole::kLogits);
  const TensorId sum = e.kept.get(KeptTensorRole::kLossSum);
  const TensorId target = e.kept.get(KeptTensorRole::kLossTarget);
  const TensorId again = create_loss_statistics_tensor(e, "loss", 1);
  const TensorId tile = tile_buffer(e);
  e.out.add(on_chip(e, Phase::kRecompute), {x, maximum, sum, target, e.parameters}, {again, tile});
  const TensorId rows = exact_sum(e, loss_chunk_tokens(e), e.s.model->hidden);
  e.out.add(on_chip(e, Phase::kDataGradient), {x, maximum, sum, again, e.parameters, tile},
            {into.rows, rows});
  if (!is_trained_head(e)) return;
  const TensorId weight = exact_sum(e, loss_vocabulary_width(e.s), e.s.model->hidden);
  e.out.add(on_chip(e, Phase::kWeightGradient), {x, maximum, sum, again, e.parameters, tile, rows},
            {e.gradients, weight});
}

bool keeps(const ModelBlockBuildContext& e, plan::LossSavedTensors what) {
  return e.s.kernels.loss_keeps == what;
}

/// True if tensors computed from the logits of each chunk stay in memory until the backward.
bool keeps_logits(const ModelBlockBuildContext& e) {
  return keeps(e, plan::LossSavedTensors::kLogits) || keeps(e, plan::LossSavedTensors::kAllLogits);
}

/// True if logits are never written whole.
bool keeps_sums(const StepBuildSettings& s) {
  return s.kernels.loss_keeps == plan::LossSavedTensors::kSums ||
         s.kernels.loss_keeps == plan::LossSavedTensors::kTiles;
}

/// True if the forward computes the gradients, as something of the model is trained.
bool goes_on(const ModelBlockBuildContext& e) {
  return keeps(e, plan::LossSavedTensors::kGradients) &&
         head_gradients(*e.s.model) != model::LayerGradientFlow::kAbove;
}

/// Adds the head's weight gradient that the forward computed to the step's gradient, and returns
/// the gradient of the rows that the forward computed.
TensorId take_gradients(ModelBlockBuildContext& e) {
  if (const TensorId weight = e.kept.get(KeptTensorRole::kHeadWeightGradient); weight >= 0) {
    const MatrixProduct p = head_product(e);
    e.out.add({.kind = OperatorKind::kAccumulate,
               .phase = Phase::kWeightGradient,
               .dtype = e.s.gradient,
               .shape = {.rows = p.inner, .columns = p.columns},
               .part = p.part,
               .purpose = OperatorPurpose::kHeldGradient,
               .parameter = e.out.parameter_of_layer_part(p.part)},
              {weight, e.gradients}, {e.gradients});
  }
  return e.kept.get(KeptTensorRole::kHeadRowGradient);
}

void take_chunk_back(ModelBlockBuildContext& e, TensorId x, const HeadGradients& into) {
  if (keeps_sums(e.s)) return on_chip_backward(e, x, into);
  if (keeps(e, plan::LossSavedTensors::kRows)) chunk_forward(e, x);
  chunk_backward(e, x, into);
}

/// Writes the logits of a chunk. The head is a module of its own, called once per chunk: if its
/// parameters are gathered for each use, the buffer gathered for the previous call stays in memory
/// beside the copies for this one (pytorch/pytorch 2.13 torch/distributed/fsdp/_fully_shard/
/// _fsdp_param_group.py, wait_for_unshard).
TensorId chunk_logits(ModelBlockBuildContext& e, TensorId x) {
  const MatrixProduct p = head_product(e);
  if (!e.s.gather_dense || !e.s.copies_gathers || e.rows.first == 0)
    return append_matrix_product(e, x, p);
  const auto again = [&](std::string_view name) {
    return e.out.tensor({.name = name,
                         .kind = TensorPurpose::kCommunication,
                         .dtype = e.s.storage,
                         .extents = {p.columns, p.inner, 1}});
  };
  const TensorId y = create_matrix_product_result(e, "logits", p, p.columns);
  e.out.add(matrix_product_operator(e, e.forward, p), {x, e.parameters},
            {y, again("gather_output"), again("gather_output")});
  return y;
}

/// Writes the head's products of all chunks before the first loss; the losses' input stays in
/// memory until the last loss.
std::vector<KeptTensors> losses_of_all_logits(ModelBlockBuildContext& e, TensorId x) {
  const std::vector<IndexRange> rows = chunks_of(e.s);
  std::vector<KeptTensors> chunks(rows.size());
  std::vector<TensorId> logits;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ModelBlockBuildContext part = part_of(e, rows[i], chunks[i], e.forward);
    logits.push_back(chunk_logits(part, x));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ModelBlockBuildContext part = part_of(e, rows[i], chunks[i], e.forward);
    const bool last = i + 1 == rows.size();
    append_cross_entropy(part, logits[i],
                         last ? std::span<const TensorId>(logits) : std::span<const TensorId>{});
  }
  return chunks;
}

/// Writes the backward of `losses_of_all_logits`: gradients of the logits of all chunks come before
/// those of the head, in the order of autograd.
void take_all_back(ModelBlockBuildContext& e, TensorId x, const HeadGradients& into,
                   std::span<const KeptTensors> chunks) {
  const std::vector<IndexRange> rows = chunks_of(e.s);
  std::vector<TensorId> gradients;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    KeptTensors own = chunks[i];
    ModelBlockBuildContext part = part_of(e, rows[i], own, Phase::kRecompute);
    gradients.push_back(append_cross_entropy_backward(part));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    KeptTensors own = chunks[i];
    ModelBlockBuildContext part = part_of(e, rows[i], own, Phase::kRecompute);
    append_matrix_product_data_gradient(part, gradients[i], head_product(part), -1, into.rows);
    chunk_weight_gradient(part, gradients[i], x, into.weight);
  }
}

TensorId input_again(ModelBlockBuildContext& e, const TensorParallelRegionCrossing& crossing) {
  if (keeps_logits(e) && !backward_needs_input(e, head_product(e))) return -1;
  const TensorId x = e.kept.get(KeptTensorRole::kHeadInput);
  return e.s.keep_gathered ? x : enter_tensor_parallel_region(e, x, crossing);
}

}  // namespace

void append_head_weight_gradient(ModelBlockBuildContext& e) {
  const MatrixProduct p = head_product(e);
  const TensorId dy = append_vocabulary_shard_gradient(e);
  const TensorId own = e.kept.get(KeptTensorRole::kHeadInput);
  const TensorId x = e.s.keep_gathered ? own
                                       : enter_tensor_parallel_region(
                                             e, own, {p.inner, p.part, Phase::kDataGradient});
  append_matrix_product_weight_gradient(e, dy, x, p);
}

std::int64_t loss_token_chunk_count(const StepBuildSettings& s) {
  const std::int64_t said = s.kernels.loss_chunks;
  if (keeps_sums(s)) return 1;
  if (said > 0) return std::min(said, s.tokens);
  const std::int64_t wider = ceil_divide(s.vocabulary, s.model->hidden);
  const auto rows = static_cast<std::uint64_t>(ceil_divide(s.tokens, wider));
  const auto chunk = static_cast<std::int64_t>(std::bit_ceil(rows));
  return std::min(ceil_divide(s.tokens, std::min(chunk, s.tokens)), plan::kMostLossChunks);
}

std::vector<KeptTensors> append_head_and_loss(ModelBlockBuildContext& e, TensorId rows) {
  const MatrixProduct p = head_product(e);
  if (e.s.barriers > 0) {
    append_vocabulary_shard_loss(
        e, append_column_parallel_product(e, rows, KeptTensorRole::kHeadInput, p), p);
    return {};
  }
  if (!computes_loss_in_chunks(e.s)) {
    append_cross_entropy(e, append_column_parallel_product(e, rows, KeptTensorRole::kHeadInput, p));
    return {};
  }
  const TensorId x = enter_tensor_parallel_region(e, rows, {p.inner, p.part, e.forward});
  HeadGradients into = goes_on(e) ? held_gradients(e) : HeadGradients{};
  const bool loops = goes_on(e) && loops_over_chunks(e);
  if (loops) copy_chunks(e, x, into);
  std::vector<KeptTensors> chunks;
  if (keeps(e, plan::LossSavedTensors::kAllLogits)) {
    e.kept.set(KeptTensorRole::kHeadInput, e.s.keep_gathered ? x : rows);
    return losses_of_all_logits(e, x);
  }
  for (const IndexRange chunk : chunks_of(e.s)) {
    KeptTensors own;
    ModelBlockBuildContext part = part_of(e, chunk, own, e.forward);
    keeps_sums(e.s) ? on_chip_forward(part, x) : chunk_forward(part, x);
    const TensorId gradient = goes_on(e) ? chunk_backward(part, x, into) : TensorId{-1};
    const bool kept = keeps_logits(e) || keeps_sums(e.s);
    chunks.push_back(kept ? own : KeptTensors{});
    const bool last = chunk.first + chunk.count == e.s.tokens;
    if (!loops || !last) continue;
    if (own.has(KeptTensorRole::kWideLogits))
      into.variables.push_back(own.get(KeptTensorRole::kWideLogits));
    into.variables.push_back(gradient);
  }
  copy_for_reduction(e, into);
  if (loops) narrow_held_rows(e, into);
  if (!goes_on(e)) e.kept.set(KeptTensorRole::kHeadInput, e.s.keep_gathered ? x : rows);
  e.kept.set(KeptTensorRole::kHeadRowGradient, into.rows);
  e.kept.set(KeptTensorRole::kHeadWeightGradient, into.weight);
  return chunks;
}

TensorId append_head_and_loss_backward(ModelBlockBuildContext& e,
                                       std::span<const KeptTensors> chunks) {
  const MatrixProduct p = head_product(e);
  if (e.s.barriers > 0) {
    return append_column_parallel_product_backward(e, append_vocabulary_shard_gradient(e),
                                                   KeptTensorRole::kHeadInput, p);
  }
  if (chunks.empty()) {
    return append_column_parallel_product_backward(e, append_cross_entropy_backward(e),
                                                   KeptTensorRole::kHeadInput, p);
  }
  const TensorParallelRegionCrossing crossing{p.inner, p.part, Phase::kDataGradient, true};
  if (goes_on(e)) return exit_tensor_parallel_region(e, take_gradients(e), crossing);
  const TensorId x = input_again(e, crossing);
  const HeadGradients into{.rows = create_matrix_product_result(e, "gradient", p, p.inner)};
  const std::vector<IndexRange> rows = chunks_of(e.s);
  if (keeps(e, plan::LossSavedTensors::kAllLogits)) {
    take_all_back(e, x, into, chunks);
    return exit_tensor_parallel_region(e, into.rows, crossing);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    KeptTensors own = chunks[i];
    ModelBlockBuildContext part = part_of(e, rows[i], own, Phase::kRecompute);
    take_chunk_back(part, x, into);
  }
  return exit_tensor_parallel_region(e, into.rows, crossing);
}

}  // namespace stepwright::step
