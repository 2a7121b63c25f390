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

/// The purpose of a tensor; memory adds up by it.
enum class TensorKind : std::uint8_t {
  kActivation,
  kLogits,         ///< Vocabulary-wide tensors of the head.
  kGathered,       ///< Parameters gathered for use, gradients before they are reduced.
  kCommunication,  ///< Buffers that exist for a message: gathered inputs, dispatch buffers.
};
inline constexpr Named<TensorKind> kTensorKindNames[] = {
    {TensorKind::kActivation, "activations"},
    {TensorKind::kLogits, "logits"},
    {TensorKind::kGathered, "gathered_parameters"},
    {TensorKind::kCommunication, "communication_buffers"}};
inline constexpr int kTensorKinds = 4;

/// A tensor of a template, local shape on one rank, trailing extents 1 when unused.
struct Tensor {
  std::string_view name;
  TensorKind kind = TensorKind::kActivation;
  DType dtype = DType::kBf16;
  bool routed = false;   ///< First extent is a mean; buffers hold `imbalance` times as much.
  bool on_host = false;  ///< True if it lies in host memory.
  std::array<std::int64_t, 3> extents{1, 1, 1};

  [[nodiscard]] std::int64_t elements() const { return extents[0] * extents[1] * extents[2]; }
  [[nodiscard]] std::int64_t bytes() const { return size_bytes(dtype, elements()); }
};

/// The matrices among parameters that their optimizer treats as such (`OptimizerTraits::acts_on`),
/// as one rank holds them, and what it keeps beside moments of elements; nothing of other
/// optimizers.
struct MatrixSize {
  std::int64_t elements = 0;  ///< Elements, with their padding.
  std::int64_t count = 0;
  /// Sums of rows and columns, or scales of blocks of moments; with the padding that makes those of
  /// a parameter as many on each rank of its states.
  std::int64_t numbers = 0;
  /// Updates that are limited by their own norm: one a matrix, one of each other parameter; and of
  /// updates of whole matrices or parameters those of which tensor ranks have a part each.
  std::int64_t updates = 0;
  std::int64_t cut_updates = 0;
  /// FLOPs of one step of Newton and Schulz for all of them, on this rank.
  std::int64_t flops = 0;
  /// Elements of messages between tensor ranks for them: of gathers, or of sums.
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

/// A parameter of a template as one tensor rank holds it.
struct LocalParameter {
  std::string_view name;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  std::int64_t copies = 1;
  bool expert = false;
  bool tensor_replicated = false;  ///< Equal on all tensor ranks.
  /// True if tensor ranks sum its gradient, as each has seen some of the rows (sequence
  /// parallelism), heads or columns; of experts over expert-tensor ranks.
  bool tensor_partial = false;
  bool row_parallel = false;  ///< Each tensor rank has a part of the inputs: its products are
                              ///< summed over the ranks.
  bool borrowed = false;      ///< Held by another block of the same rank (tied tables).
  bool frozen = false;        ///< True if it has no gradient and no optimizer states.
  bool narrow = false;        ///< Stored in the type of the adapters' base.
  std::int64_t blocks = 1;    ///< Number of equal blocks into which its states are cut.
  MatrixSize matrices{};      ///< Matrices in it that the optimizer treats as matrices.
  [[nodiscard]] std::int64_t elements() const { return rows * columns * copies; }
  /// Elements with the padding that makes its blocks equal.
  [[nodiscard]] std::int64_t padded() const { return (elements() + blocks - 1) / blocks * blocks; }
};

/// A piece of a step that repeats: one layer forward, one layer backward, one gather of a layer's
/// parameters, ... Operators are listed in the order in which they are issued; an operator starts
/// when its stream has reached it and everything in `after` has ended. Lifetimes follow from the
/// operands (`memory/lifetimes.h`).
struct Template {
  std::string name;
  std::vector<Operator> operators;
  std::vector<Tensor> tensors;
  std::vector<LocalParameter> parameters;
  std::vector<TensorId> operands;
  std::vector<std::int32_t> edges;
  std::vector<TensorId> inputs;  ///< Alive before the first operator, handed over by the neighbour.
  std::vector<TensorId> outputs;  ///< Handed to the neighbour.
  /// Kept for the next template of the same block and micro-batch: by a forward for its backward,
  /// by a data gradient for the weight gradient.
  std::vector<TensorId> saved;
  std::int32_t saved_beside =
      0;  ///< For a pair: how many of `saved`, from the end, belong to the second strand.
  /// The tensors that the one before saved, in the same order; what is needed again after that is
  /// saved again.
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

/// The source of one of its template's inputs for an item: an output of an earlier item.
struct Source {
  std::int32_t item = 0;
  std::int32_t output = 0;  ///< Position in that template's outputs.
};

/// The number of a block that owns parameters in `Item::units`: a layer by its number, a
/// multi-token layer by its number behind them, or one of these.
inline constexpr std::int32_t kEmbeddingUnit = -1;
inline constexpr std::int32_t kHeadUnit = -2;
/// The mark of what a chunk hands over to the next one of its own position.
inline constexpr std::int32_t kHandedOver = -3;

/// A template in a sequence. It starts when the items in `after` (earlier positions of the same
/// sequence) have ended. An item with none starts when the compute stream has reached its slot.
struct Item {
  TemplateId which = 0;
  std::int32_t layer = -1;  ///< Model layer (0-based); -1 for what is not a layer.
  std::vector<std::int32_t> after;
  std::vector<Source> inputs;  ///< One source for each of Template::inputs.
  /// Blocks whose parameters it uses or gathers, or whose gradients it reduces; none: no block's,
  /// or (in an update) those of all. Of a pair that of each strand.
  std::vector<std::int32_t> units;
  /// The strand of an item in a sequence of two: whose it is. Of a pair 0, and operators say it.
  std::uint8_t strand = 0;
  std::int32_t beside_layer = -1;  ///< For a pair: the layer of the second strand.

  /// The strand, layer and block of one of its operators.
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

/// The work of a stage for one micro-batch of one chunk in one direction, or at the end of a step.
/// An update starts when everything before it on the rank has ended, on every stream.
struct Sequence {
  schedule::Direction direction = schedule::Direction::kForward;
  std::int32_t chunk = 0;  ///< Chunk of the stage.
  std::vector<Item> items;
  /// The chunk of a second strand, the backward of another micro-batch or part of it; -1: none.
  std::int32_t beside = -1;

  [[nodiscard]] std::int32_t chunk_of(std::size_t strand) const {
    return strand == 0 ? chunk : beside;
  }
};

/// One entry of a schedule.
struct Slot {
  std::int32_t sequence = 0;     ///< An index into Stage::sequences.
  std::int32_t micro_batch = 0;  ///< -1 for the update.
  std::int32_t beside = -1;      ///< The micro-batch of a second strand.

  [[nodiscard]] std::int32_t micro_batch_of(std::size_t strand) const {
    return strand == 0 ? micro_batch : beside;
  }
};

/// Bytes of the states of models beside the one that a step trains (`other_models`).
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
  /// Part of `parameters` that is made of the rest: narrow copies (step/narrow_operands.h).
  std::int64_t copies = 0;
  /// Part of `parameters` that comes block by block with a forward and goes with its backward.
  std::int64_t for_step = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;  ///< Optimizer states, without those `moved`.
  std::int64_t moved = 0;      ///< Optimizer states moved to the host.
  std::int64_t fetched = 0;    ///< Parameters fetched from the host that are in none of the above.
  HostStates host;             ///< States in host memory (`host_states`).
  OtherStates others;          ///< States of other models, in none of the above.
};

/// The states and the work of one pipeline position in a step; all its ranks do the same.
struct Stage {
  std::int32_t position = 0;
  std::vector<std::vector<std::int64_t>> chunks;  ///< Layers of each chunk.
  std::vector<Sequence> sequences;
  std::vector<Slot> schedule;  ///< Slots in the order of issue; one period of the step.
  States states;
  std::int64_t dense_parameters = 0;  ///< Elements per rank before sharding by data parallelism.
  std::int64_t expert_parameters = 0;
};

/// A training step: what every class of ranks computes, sends, keeps and frees. A period: gathers
/// that a step leaves to the next one stand at the start of the schedule.
struct StepProgram {
  std::array<std::int64_t, plan::kGroupKinds> group_sizes{};
  std::int64_t ranks = 1;
  std::int64_t pipeline_stride = 1;  ///< Ranks between neighbours of a pipeline.
  std::int64_t micro_batches = 1;
  schedule::Placement placement;  ///< Placement of the model's chunks.
  double imbalance = 1.0;         ///< Largest load over the mean, of routed operators and tensors.
  /// Every rank gets exactly the mean: routed payloads of a run are those of the program.
  bool even_routing = true;
  bool keeps_on_host = false;      ///< Tensors that stay for a backward.
  bool shards_parameters = false;  ///< Ranks of data parallelism share them.
  std::vector<Template> templates;
  std::vector<Stage> stages;
};

/// The micro-batch that stands for all where documents make them unequal: the largest, of which
/// memory has to hold any; the mean one, for times; or one that none is below in the mean, whatever
/// the plan, for floors.
enum class MicroBatchSize : std::uint8_t { kLargest, kMean, kLeast };

/// The program of a legal plan. Throws `Error{kUnsupported}` for what no builder covers.
StepProgram build_program(const plan::Job& job, const plan::Plan& plan,
                          MicroBatchSize size = MicroBatchSize::kLargest);

}  // namespace stepwright::step
