#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/schedule/placement.h"
#include "stepwright/step/host_states.h"
#include "stepwright/step/operator.h"

namespace stepwright::step {

/// The purpose of a tensor; memory reports add up tensors by purpose.
enum class TensorKind : std::uint8_t {
  kActivation,
  kLogits,         ///< Tensors of the head as wide as the vocabulary.
  kGathered,       ///< Parameters gathered for a use, and gradients before their reduction.
  kCommunication,  ///< Buffers of messages: gathered inputs, dispatch buffers.
};
inline constexpr Named<TensorKind> kTensorKindNames[] = {
    {TensorKind::kActivation, "activations"},
    {TensorKind::kLogits, "logits"},
    {TensorKind::kGathered, "gathered_parameters"},
    {TensorKind::kCommunication, "communication_buffers"}};
inline constexpr int kTensorKinds = 4;

/// A tensor of a template, with its shape on one rank; unused trailing extents are 1.
struct Tensor {
  std::string_view name;
  TensorKind kind = TensorKind::kActivation;
  DType dtype = DType::kBf16;
  /// True if the first extent is a mean over ranks; buffers hold `imbalance` times as much.
  bool routed = false;
  bool on_host = false;  ///< True if it lies in host memory.
  std::array<std::int64_t, 3> extents{1, 1, 1};

  [[nodiscard]] std::int64_t elements() const { return extents[0] * extents[1] * extents[2]; }
  [[nodiscard]] std::int64_t bytes() const { return size_bytes(dtype, elements()); }
};

/// The matrices among a rank's parameters that the optimizer treats as matrices
/// (`OptimizerTraits::acts_on`), and what it keeps in addition to element-wise moments; empty for
/// element-wise optimizers.
struct MatrixSize {
  std::int64_t elements = 0;  ///< Elements, with their padding.
  std::int64_t count = 0;
  /// Numbers kept in addition: sums of rows and columns, or scales of blocks of moments, padded so
  /// that each rank that shares a parameter's states keeps equally many.
  std::int64_t numbers = 0;
  /// Updates whose size their own norm limits: one for each matrix and for each other parameter.
  /// `cut_updates`: those whose matrix or parameter is split over tensor ranks.
  std::int64_t updates = 0;
  std::int64_t cut_updates = 0;
  /// FLOPs of one Newton-Schulz step for all these matrices, on this rank.
  std::int64_t flops = 0;
  /// Elements of the messages between tensor ranks for these matrices: gathers, or sums.
  std::int64_t payload = 0;

  [[nodiscard]] bool empty() const { return count + numbers + updates == 0; }

  MatrixSize& add(const MatrixSize& other, std::int64_t times) {
    elements += times * other.elements;
    count += times * other.count;
    numbers += times * other.numbers;
    updates += times * other.updates;
    cut_updates += times * other.cut_updates;
    flops += times * other.flops;
    payload += times * other.payload;
    return *this;
  }
  auto operator<=>(const MatrixSize&) const = default;
};

/// A parameter of a template, as one tensor rank holds it.
struct LocalParameter {
  std::string_view name;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  std::int64_t copies = 1;
  bool expert = false;
  bool tensor_replicated = false;  ///< True if all tensor ranks hold equal values.
  /// True if tensor ranks sum the gradient, because each has used the parameter on only some of the
  /// rows (sequence parallelism), heads or columns; for experts, expert-tensor ranks.
  bool tensor_partial = false;
  /// True if each tensor rank holds some of the input features, so that products are summed over
  /// the ranks.
  bool row_parallel = false;
  bool borrowed = false;  ///< True if another block of the same rank holds it (tied tables).
  /// True if the parameter is not trained: no gradient and no optimizer states.
  bool frozen = false;
  /// True if it is stored in the narrow type of frozen base weights under adapters.
  bool narrow = false;
  std::int64_t blocks = 1;  ///< Number of equal shards into which the parameter's states are cut.
  MatrixSize matrices{};    ///< Matrices in the parameter that the optimizer treats as matrices.
  [[nodiscard]] std::int64_t elements() const { return rows * columns * copies; }
  /// Elements with the padding that makes its blocks equal.
  [[nodiscard]] std::int64_t padded() const { return (elements() + blocks - 1) / blocks * blocks; }
};

/// A piece of a step that repeats: one layer forward, one layer backward, one gather of a layer's
/// parameters, ... Operators are listed in the order in which they are issued; an operator starts
/// when its stream has reached it and all operators in `after` have ended. Lifetimes follow from
/// the operands (`memory/lifetimes.h`).
struct Template {
  std::string name;
  std::vector<Operator> operators;
  std::vector<Tensor> tensors;
  std::vector<LocalParameter> parameters;
  std::vector<TensorId> operands;
  std::vector<std::int32_t> edges;
  /// Tensors that the previous item passes in; alive before the first operator.
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;  ///< Tensors passed to a later item.
  /// Tensors kept for the next template of the same block and micro-batch: from a forward to its
  /// backward, from a data gradient to the weight gradient.
  std::vector<TensorId> saved;
  /// For a pair: how many of `saved`, from the end, belong to the second strand.
  std::int32_t saved_beside = 0;
  /// Tensors that the previous template of the block saved, in the same order; what is needed once
  /// more after this template is saved again.
  std::vector<TensorId> restored;

  [[nodiscard]] std::span<const TensorId> reads(const Operator& op) const {
    return {operands.data() + op.reads.first, static_cast<std::size_t>(op.reads.count)};
  }
  [[nodiscard]] std::span<const TensorId> writes(const Operator& op) const {
    return {operands.data() + op.writes.first, static_cast<std::size_t>(op.writes.count)};
  }
  [[nodiscard]] std::span<const std::int32_t> after(const Operator& op) const {
    return {edges.data() + op.after.first, static_cast<std::size_t>(op.after.count)};
  }
};

using TemplateId = std::int32_t;

/// The source of one input of an item's template: an output of an earlier item.
struct Source {
  std::int32_t item = 0;
  std::int32_t output = 0;  ///< Index of the output in the outputs of the earlier item's template.
};

/// Numbers of blocks that own parameters, as in `Item::units`: a layer has its own number,
/// multi-token layers follow the last layer, the embedding and the head have these.
inline constexpr std::int32_t kEmbeddingUnit = -1;
inline constexpr std::int32_t kHeadUnit = -2;
/// Number that marks the residual stream passed to the next chunk of the same position.
inline constexpr std::int32_t kHandedOver = -3;

/// A template in a sequence. It starts when the items in `after` (earlier positions of the same
/// sequence) have ended. An item with none starts when the compute stream has reached its slot.
struct Item {
  TemplateId which = 0;
  std::int32_t layer = -1;  ///< Model layer (0-based); -1: not a layer.
  std::vector<std::int32_t> after;
  std::vector<Source> inputs;  ///< One source for each of Template::inputs.
  /// Numbers of the blocks whose parameters the item uses or gathers, or whose gradients it
  /// reduces; empty: no block, or for an update all blocks. A pair has the block of each strand.
  std::vector<std::int32_t> units;
  /// Strand of the item in a sequence of two strands; 0 for a pair, whose operators carry the
  /// strand.
  std::uint8_t strand = 0;
  std::int32_t beside_layer = -1;  ///< For a pair: the layer of the second strand.

  /// The strand, layer and block number of one operator of the item.
  [[nodiscard]] std::size_t strand_of(const Operator& op) const {
    return std::max(strand, op.strand);
  }
  [[nodiscard]] std::int32_t layer_of(const Operator& op) const {
    return op.strand == 0 ? layer : beside_layer;
  }
  [[nodiscard]] std::int32_t unit_of(const Operator& op) const {
    return op.strand < units.size() ? units[op.strand] : -1;
  }
};

/// The work of a pipeline position for one micro-batch of one chunk in one direction, or at the end
/// of a step. An update starts when all earlier work of the rank has ended, on every stream.
struct Sequence {
  schedule::Direction direction = schedule::Direction::kForward;
  std::int32_t chunk = 0;  ///< Index of the chunk on the pipeline position.
  std::vector<Item> items;
  /// Chunk of the second strand (the backward, or a part of it, of another micro-batch); -1: one
  /// strand.
  std::int32_t beside = -1;

  [[nodiscard]] std::int32_t chunk_of(std::size_t strand) const {
    return strand == 0 ? chunk : beside;
  }
};

/// One entry of a position's schedule: a sequence for a micro-batch.
struct Slot {
  std::int32_t sequence = 0;     ///< An index into Stage::sequences.
  std::int32_t micro_batch = 0;  ///< Micro-batch of the slot; -1: the update.
  std::int32_t beside = -1;      ///< Micro-batch of the second strand; -1: one strand.

  [[nodiscard]] std::int32_t micro_batch_of(std::size_t strand) const {
    return strand == 0 ? micro_batch : beside;
  }
};

/// Bytes of model states of the job's other models (`other_models`), which this step does not
/// train.
struct OtherStates {
  std::int64_t parameters = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;

  [[nodiscard]] std::int64_t bytes() const { return parameters + gradients + optimizer; }
};

/// Bytes of model states that one rank of a stage holds all the time.
struct States {
  std::int64_t parameters = 0;
  std::int64_t frozen = 0;  ///< Frozen part of `parameters`.
  /// Part of `parameters` that is derived from the rest: narrow copies (step/narrow_operands.h).
  std::int64_t copies = 0;
  /// Part of `parameters` that is gathered block by block in a forward and freed block by block in
  /// its backward.
  std::int64_t for_step = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;  ///< Optimizer states on the device, without those `moved`.
  std::int64_t moved = 0;      ///< Optimizer states moved to the host.
  std::int64_t fetched = 0;    ///< Parameters fetched from host memory that no other member counts.
  HostStates host;             ///< States in host memory (`host_states`).
  OtherStates others;          ///< States of the job's other models, which no other member counts.
};

/// The model states and the work of one pipeline position in a step; all ranks of the position do
/// the same.
struct Stage {
  std::int32_t position = 0;
  std::vector<std::vector<std::int64_t>> chunks;  ///< Model layers in each chunk of the position.
  std::vector<Sequence> sequences;
  std::vector<Slot> schedule;  ///< Slots in the order of issue, for one step.
  States states;
  std::int64_t dense_parameters = 0;  ///< Elements per rank before sharding by data parallelism.
  std::int64_t expert_parameters = 0;
};

/// A training step: what every class of ranks computes, sends, keeps and frees. The program
/// repeats: gathers that a step leaves to the next one are at the start of the schedule.
struct StepProgram {
  std::array<std::int64_t, plan::kGroupKinds> group_sizes{};
  std::int64_t ranks = 1;
  std::int64_t pipeline_stride = 1;  ///< Distance, in ranks, between neighbours of a pipeline.
  std::int64_t micro_batches = 1;
  schedule::Placement placement;  ///< Assignment of the model's chunks to pipeline positions.
  double imbalance = 1.0;         ///< Largest load over the mean for routed operators and tensors.
  /// True if every rank gets exactly the mean of routed rows, so that a real run sends the
  /// program's payloads.
  bool even_routing = true;
  bool keeps_on_host = false;  ///< True if tensors kept for a backward are moved to host memory.
  bool shards_parameters = false;  ///< True if parameters are sharded over data-parallel ranks.
  std::vector<Template> templates;
  std::vector<Stage> stages;
};

/// The micro-batch that represents all, where documents make sizes unequal. kLargest: the largest,
/// for memory; kMean: the mean one, for times; kLeast: a lower bound on the mean micro-batch over
/// all plans, for floors.
enum class MicroBatchSize : std::uint8_t { kLargest, kMean, kLeast };

/// Builds the program of a legal plan. Throws `Error{kUnsupported}` for a combination that no
/// builder covers.
StepProgram build_program(const plan::Job& job, const plan::Plan& plan,
                          MicroBatchSize size = MicroBatchSize::kLargest);

}  // namespace stepwright::step
