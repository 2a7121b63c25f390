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
enum class TensorPurpose : std::uint8_t {
  kActivation,
  /// Tensors, such as logits, of the head and the loss that are as wide as the vocabulary.
  kLogits,
  /// Parameters gathered before a use, and gradients before their data-parallel reduction.
  kGathered,
  kCommunication,  ///< Buffers that messages fill: gathered inputs, rows dispatched to experts.
};
inline constexpr Named<TensorPurpose> kTensorKindNames[] = {
    {TensorPurpose::kActivation, "activations"},
    {TensorPurpose::kLogits, "logits"},
    {TensorPurpose::kGathered, "gathered_parameters"},
    {TensorPurpose::kCommunication, "communication_buffers"}};
inline constexpr int kTensorKinds = 4;

/// A tensor of a template (the operators of one block in one direction), with its shape (extents)
/// on one rank; unused trailing extents are 1.
struct TemplateTensor {
  std::string_view name;
  TensorPurpose kind = TensorPurpose::kActivation;
  DType dtype = DType::kBf16;
  /// True for rows routed to experts: the first extent is a mean over ranks, and buffers hold
  /// `StepProgram::imbalance` times as much.
  bool routed = false;
  bool on_host = false;  ///< True if the tensor lies in host memory.
  std::array<std::int64_t, 3> extents{1, 1, 1};

  [[nodiscard]] std::int64_t elements() const { return extents[0] * extents[1] * extents[2]; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of_elements(dtype, elements()); }
};

/// Sizes of the matrices among a rank's parameters that the optimizer updates as matrices (Muon,
/// Adafactor), and of what it keeps in addition to element-wise moments; all 0 for element-wise
/// optimizers.
struct OptimizerMatrixSizes {
  /// Number of elements of the matrices on this rank, padding included.
  std::int64_t elements = 0;
  std::int64_t count = 0;
  /// Number of values that the optimizer keeps in addition to element-wise moments: sums of rows
  /// and columns, or scales of blocks of moments, padded so that each rank that shares a
  /// parameter's states keeps equally many.
  std::int64_t numbers = 0;
  /// Number of updates that the optimizer limits by their own norm: one for each matrix and for
  /// each other parameter.
  std::int64_t updates = 0;
  /// Number of optimizer updates that are limited by their own norm and split over tensor ranks.
  std::int64_t cut_updates = 0;
  /// FLOPs of one Newton-Schulz step (Muon) for all matrices of this rank.
  std::int64_t flops = 0;
  /// Number of elements of the messages that tensor ranks exchange to update these matrices:
  /// gathered shards, or sums.
  std::int64_t payload = 0;

  [[nodiscard]] bool empty() const { return count + numbers + updates == 0; }

  OptimizerMatrixSizes& add(const OptimizerMatrixSizes& other, std::int64_t times) {
    elements += times * other.elements;
    count += times * other.count;
    numbers += times * other.numbers;
    updates += times * other.updates;
    cut_updates += times * other.cut_updates;
    flops += times * other.flops;
    payload += times * other.payload;
    return *this;
  }
  auto operator<=>(const OptimizerMatrixSizes&) const = default;
};

/// A parameter of a template's block, with the rows and columns that one tensor rank holds.
struct RankLocalParameter {
  std::string_view name;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  std::int64_t copies = 1;
  bool expert = false;
  /// True if all tensor ranks hold the same values of the parameter.
  bool tensor_replicated = false;
  /// True if tensor ranks (for experts: expert-tensor ranks) sum the parameter's gradient, because
  /// each has used the parameter on only some of the rows (sequence parallelism), heads or columns.
  bool tensor_partial = false;
  /// True for the weight of a row-parallel product: each tensor rank holds some of the input
  /// features, so that results are summed over the ranks.
  bool row_parallel = false;
  /// True if another block of the same rank holds the parameter (tied tables).
  bool borrowed = false;
  /// True if the parameter is not trained: no gradient and no optimizer states.
  bool frozen = false;
  /// True if the parameter is stored in the narrow type of frozen base weights under LoRA adapters.
  bool narrow = false;
  /// Number of equal shards into which data parallelism cuts the parameter's states.
  std::int64_t blocks = 1;
  /// Sizes of the parameter's matrices that the optimizer updates as matrices; all 0: none.
  OptimizerMatrixSizes matrices{};
  [[nodiscard]] std::int64_t elements() const { return rows * columns * copies; }
  /// Returns the number of elements of the parameter on one tensor rank, padded so that its
  /// data-parallel shards are equal.
  [[nodiscard]] std::int64_t padded_element_count_per_tensor_rank() const {
    return (elements() + blocks - 1) / blocks * blocks;
  }
};

/// A piece of a step that repeats: one layer forward, one layer backward, one gather of a layer's
/// parameters, ... Operators are listed in the order in which they are issued; an operator starts
/// when its stream has reached it and all operators in its `after` have ended. Lifetimes of tensors
/// follow from the operands (`memory/lifetimes.h`).
struct OperatorTemplate {
  std::string name;
  std::vector<Operator> operators;
  std::vector<TemplateTensor> tensors;
  std::vector<RankLocalParameter> parameters;
  std::vector<TensorId> operands;
  std::vector<std::int32_t> edges;
  /// Tensors that an earlier template of the same forward or backward passes in, such as the
  /// residual stream; alive before the first operator.
  std::vector<TensorId> inputs;
  /// Tensors passed to a later template of the sequence, such as the residual stream.
  std::vector<TensorId> outputs;
  /// Tensors kept in memory for the next template of the same block and micro-batch: from a forward
  /// to its backward, from a data gradient to the weight gradient.
  std::vector<TensorId> saved;
  /// If the template merges two micro-batches: how many of `saved`, from the end, belong to the
  /// second one (the backward's).
  std::int32_t saved_beside = 0;
  /// Tensors that the previous template of the same block and micro-batch saved, in the same order.
  /// A tensor that is needed once more after this template is also in `saved`.
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

/// Where one input of a template comes from: an output of an earlier item (template) of the
/// sequence.
struct OperatorTemplateInputSource {
  std::int32_t item = 0;
  std::int32_t output = 0;  ///< Index into the outputs of the earlier item's template.
};

/// Number of the embedding among the blocks that own parameters. Layers have their own index,
/// multi-token layers follow the last layer, and `kHeadBlockNumber` is the head.
inline constexpr std::int32_t kEmbeddingBlockNumber = -1;
inline constexpr std::int32_t kHeadBlockNumber = -2;
/// Number that `TemplateSequenceItem::units` holds in place of a block's for the residual stream
/// that goes to the next chunk on the same pipeline rank.
inline constexpr std::int32_t kResidualToNextChunkNumber = -3;

/// One entry of a sequence: a template, for a certain layer. It starts when the entries in `after`
/// have ended; without such entries, when the compute stream has reached the sequence's slot of the
/// schedule.
struct TemplateSequenceItem {
  TemplateId which = 0;
  /// Index of the model layer that the template computes, from 0; -1: not a layer.
  std::int32_t layer = -1;
  std::vector<std::int32_t> after;
  /// Where each of the template's inputs comes from, in the order of OperatorTemplate::inputs.
  std::vector<OperatorTemplateInputSource> inputs;
  /// Numbers of the blocks (layer index, `kEmbeddingBlockNumber`, `kHeadBlockNumber`) whose
  /// parameters the template uses or gathers, or whose gradients it reduces; empty: no block, or
  /// for an update all blocks. A template that merges two micro-batches has one number for each.
  std::vector<std::int32_t> units;
  /// In a sequence of two micro-batches: 0 for the first's templates, 1 for the second's; 0 for a
  /// template that merges both, whose operators tell them apart.
  std::uint8_t strand = 0;
  /// If the template merges two micro-batches: index of the model layer that it computes for the
  /// second one; -1: none.
  std::int32_t beside_layer = -1;

  /// Returns to which of two merged micro-batches an operator belongs (0 or 1).
  [[nodiscard]] std::size_t merged_micro_batch_index_of_operator(const Operator& op) const {
    return std::max(strand, op.strand);
  }
  /// Returns the model layer that an operator computes; -1: not a layer.
  [[nodiscard]] std::int32_t layer_of(const Operator& op) const {
    return op.strand == 0 ? layer : beside_layer;
  }
  [[nodiscard]] std::int32_t unit_of(const Operator& op) const {
    return op.strand < units.size() ? units[op.strand] : -1;
  }
};

/// The work of a pipeline stage for one micro-batch of one chunk in one direction, or at the end of
/// a step. The work at the end of a step starts when all earlier work of the rank has ended, on
/// every stream.
struct TemplateSequence {
  schedule::Direction direction = schedule::Direction::kForward;
  std::int32_t chunk = 0;  ///< Index of the chunk among the chunks of its pipeline stage.
  std::vector<TemplateSequenceItem> items;
  /// If two micro-batches run together: the chunk of the second one (a backward, or a part of it);
  /// -1: one micro-batch.
  std::int32_t beside = -1;

  [[nodiscard]] std::int32_t chunk_of(std::size_t strand) const {
    return strand == 0 ? chunk : beside;
  }
};

/// One entry of a pipeline stage's schedule: a sequence of templates, and the micro-batch for which
/// it runs.
struct PipelineScheduleSlot {
  /// Index of the sequence that the schedule entry runs, in PipelineStageProgram::sequences.
  std::int32_t sequence = 0;
  /// Index of the micro-batch for which the slot runs; -1: the optimizer's update at the end of the
  /// step.
  std::int32_t micro_batch = 0;
  /// If two micro-batches run together in the slot: index of the second one; -1: one micro-batch.
  std::int32_t beside = -1;

  [[nodiscard]] std::int32_t micro_batch_of(std::size_t strand) const {
    return strand == 0 ? micro_batch : beside;
  }
};

/// Bytes of model states of the job's other models (such as a reference or reward model), which
/// this step does not train.
struct OtherModelStates {
  std::int64_t parameters = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;

  [[nodiscard]] std::int64_t bytes() const { return parameters + gradients + optimizer; }
};

/// Bytes of model states (parameters, gradients, optimizer states) that one rank of a pipeline
/// stage holds all the time.
struct RankModelStateBytes {
  std::int64_t parameters = 0;
  std::int64_t frozen = 0;  ///< Bytes of frozen parameters, included in `parameters`.
  /// Bytes of copies of weights in a narrow type (fp8 or smaller), included in `parameters`.
  std::int64_t copies = 0;
  /// Bytes, included in `parameters`, of parameters that are gathered or cast block by block in a
  /// forward and freed block by block in its backward.
  std::int64_t for_step = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;  ///< Bytes of optimizer states in device memory.
  /// Bytes of optimizer states that are kept in host memory instead of device memory.
  std::int64_t moved = 0;
  /// Bytes of parameters that are stored in host memory and fetched for each use; no other member
  /// counts them.
  std::int64_t fetched = 0;
  HostModelStateBytes host;  ///< Bytes of model states in host memory.
  /// Bytes of states of the job's other models, which no other member counts.
  OtherModelStates others;
};

/// The model states and the work of one pipeline stage in a step; all ranks of the position do the
/// same.
struct PipelineStageProgram {
  std::int32_t position = 0;
  /// Indices of the model layers in each chunk of the pipeline stage.
  std::vector<std::vector<std::int64_t>> chunks;
  std::vector<TemplateSequence> sequences;
  /// Slots of one training step, in the order in which the pipeline stage issues them.
  std::vector<PipelineScheduleSlot> schedule;
  RankModelStateBytes states;
  /// Number of dense (not expert) parameter elements on one rank before data-parallel sharding.
  std::int64_t dense_parameters = 0;
  std::int64_t expert_parameters = 0;
};

/// The program of a training step: what the ranks of each pipeline stage compute, send, keep and
/// free. The program repeats: gathers that a step leaves to the next one are at the start of the
/// schedule.
struct StepProgram {
  std::array<std::int64_t, plan::kGroupKinds> group_sizes{};
  std::int64_t ranks = 1;
  /// Difference between the global rank numbers of two neighbours in a pipeline.
  std::int64_t pipeline_stride = 1;
  std::int64_t micro_batches = 1;
  /// Assignment of the model's chunks to pipeline stages.
  schedule::ModelChunkPlacement placement;
  /// Largest load over the mean load of a rank, for operators and tensors of rows routed to
  /// experts.
  double imbalance = 1.0;
  /// True if every rank gets exactly the mean number of rows routed to experts, so that a real run
  /// sends the program's payloads.
  bool even_routing = true;
  /// True if tensors kept for a backward are moved to host memory (activation offloading).
  bool keeps_on_host = false;
  bool shards_parameters = false;  ///< True if parameters are sharded over data-parallel ranks.
  std::vector<OperatorTemplate> templates;
  std::vector<PipelineStageProgram> stages;
};

/// The micro-batch whose size stands for all, where documents make sizes unequal. kLargest: the
/// largest, for memory; kMean: the mean one, for times; kLeast: a lower bound on the mean
/// micro-batch over all plans, for lower bounds of a step's time.
enum class RepresentativeMicroBatch : std::uint8_t { kLargest, kMean, kLeast };

/// Builds the program of a training step under a legal plan. Throws `Error{kUnsupported}` for a
/// combination of features that is not implemented.
StepProgram build_step_program(const plan::Job& job, const plan::Plan& plan,
                               RepresentativeMicroBatch size = RepresentativeMicroBatch::kLargest);

}  // namespace stepwright::step
