#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/schedule/placement.h"
#include "stepwright/schedule/schedule.h"
#include "stepwright/schedule/turn_play.h"

namespace stepwright::schedule {

/// Relative difference below which two times, each a sum of seconds, count as equal, because
/// seconds may be added in different orders.
inline constexpr double kSumRoundingTolerance = 1e-9;

/// Work of one pipeline rank in order; an item: one direction of one chunk for one micro-batch.
using Order = std::vector<PipelineWorkPart>;

/// Memory that a chunk keeps for one micro-batch; any unit, if all sizes use it.
struct ModelChunkKeptMemory {
  /// Size kept from the forward to the backward or, if that is split, to the data gradients.
  double forward = 1;
  /// Size kept from the data gradients to the weight gradients of a split backward.
  double weight = 1;
};

/// A pipeline with different times of ranks and chunks, for which an order of work is searched.
struct UnevenPipeline {
  ModelChunkPlacement placement;
  std::int64_t micro_batches = 1;
  /// Seconds of work, of whole backwards and of messages between pipeline ranks; no overlapped
  /// pairs.
  PipelineScheduleSeconds seconds;
  /// For each pipeline rank and each of its chunks ([rank][chunk]): the memory that the chunk keeps
  /// for one micro-batch.
  std::vector<std::vector<ModelChunkKeptMemory>> kept;
  /// For each pipeline rank, the most memory that its chunks may keep, in the unit of
  /// `ModelChunkKeptMemory`.
  std::vector<double> room;
};

/// Returns a pipeline in which no rank may keep more than `activations`, in units of one
/// micro-batch's activations on all chunks of a rank; each is kept until its weight gradient is
/// done.
UnevenPipeline activation_limited_pipeline(const ModelChunkPlacement& placement,
                                           std::int64_t micro_batches,
                                           PipelineScheduleSeconds seconds, double activations);

/// Returns the pipeline for which an `auto` schedule searches an order of work. `basis`: times and
/// memory of the forward and backward of each chunk, which differ between chunks.
UnevenPipeline pipeline_for_order_search(const OrderSearchBasis& basis,
                                         const ModelChunkPlacement& placement,
                                         std::int64_t micro_batches);

/// Where a chunk of the model is, and the least time that a micro-batch needs from there to the end
/// of the step.
struct ModelChunkRemainingTime {
  ModelChunkPosition holder;
  /// Seconds of the message from the previous chunk of the model; 0 if it is on the same pipeline
  /// rank.
  double hop_s = 0;
  /// Least seconds from the end of the chunk's forward to the end of the step.
  double behind_forward_s = 0;
  /// Least seconds from the end of the chunk's backward or data gradients to the end of the step.
  double behind_backward_s = 0;
};
/// Returns the pipeline rank and the least remaining time of each chunk, in model order.
std::vector<ModelChunkRemainingTime> model_chunk_remaining_times(const UnevenPipeline& pipeline);

/// Tracks the memory that a pipeline rank keeps while its schedule runs.
class KeptMemoryTracker {
 public:
  KeptMemoryTracker(const UnevenPipeline& pipeline, std::size_t position, double kept = 0)
      : kept_(pipeline.kept[position]), room_(pipeline.room[position]), now_(kept) {}

  /// Returns the memory that a work item (forward, backward or a part of it) adds to what its
  /// pipeline rank keeps; negative if it frees more.
  [[nodiscard]] double kept_memory_change_of_part(const PipelineWorkPart& part) const;
  /// True if the pipeline rank has memory for `more` bytes of activations besides those it keeps.
  [[nodiscard]] bool has_free_activation_memory(double more) const;
  void run(const PipelineWorkPart& part) { now_ += kept_memory_change_of_part(part); }
  [[nodiscard]] double now() const { return now_; }

 private:
  const std::vector<ModelChunkKeptMemory>& kept_;
  double room_;
  double now_;
};

/// True if a pipeline rank that already keeps `kept` has memory for all work of `order`.
bool has_free_activation_memory(const UnevenPipeline& pipeline, std::size_t position,
                                std::span<const PipelineWorkPart> order, double kept = 0);

}  // namespace stepwright::schedule
