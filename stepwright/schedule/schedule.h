#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/schedule/placement.h"
#include "stepwright/schedule/schedule_kind.h"
#include "stepwright/schedule/turns.h"

namespace stepwright::schedule {

/// Nanoseconds and kept bytes of one chunk of the model for one micro-batch.
struct ModelChunkTimeAndMemory {
  std::int64_t forward_ns = 0;
  /// Nanoseconds of the data gradients, if the chunk's backward is split into data and weight
  /// gradients.
  std::int64_t data_ns = 0;
  /// Nanoseconds of the weight gradients, if the chunk's backward is split into data and weight
  /// gradients.
  std::int64_t weight_ns = 0;
  /// Nanoseconds of a whole backward: data and weight gradients together.
  std::int64_t backward_ns = 0;
  /// Bytes kept from the forward to the backward or, if that is split, to the data gradients.
  std::int64_t forward_bytes = 0;
  /// Bytes kept from the data gradients to the weight gradients of a split backward.
  std::int64_t weight_bytes = 0;
  auto operator<=>(const ModelChunkTimeAndMemory&) const = default;
};

/// Placements of chunks for which an order of work (`auto` schedule) may be searched, with their
/// names.
inline constexpr Named<ModelChunkPlacementKind> kSearchableChunkPlacements[] = {
    {ModelChunkPlacementKind::kV, "v"}, {ModelChunkPlacementKind::kCyclic, "cyclic"}};

/// The pipeline (times, memory, placement) for which the order of work of an `auto` schedule is
/// searched.
struct OrderSearchBasis {
  /// How chunks are assigned to pipeline ranks: kV or kCyclic.
  ModelChunkPlacementKind placement = ModelChunkPlacementKind::kV;
  /// Nanoseconds and kept bytes of each chunk of the model, in model order; empty: no order of work
  /// has been chosen yet.
  std::vector<ModelChunkTimeAndMemory> chunks;
  std::int64_t hop_ns = 0;  ///< Nanoseconds of a message between neighbouring pipeline ranks.
  /// For each pipeline rank, the most activation bytes that its chunks may keep.
  std::vector<std::int64_t> room_bytes;
  auto operator<=>(const OrderSearchBasis&) const = default;
};

/// Turns (schedule entries) of each pipeline rank that a search found, and the number of
/// micro-batches for which they hold.
struct AutoScheduleTurns {
  std::int64_t micro_batches = 1;
  std::vector<Turns> turns;
};

/// Cache of the turns (schedule entries) that a search found for an `auto` schedule; null: none
/// yet. Copies of a plan share it. Two caches always compare equal, since equal inputs of the
/// search give equal turns.
struct AutoScheduleTurnCache {
  std::shared_ptr<const AutoScheduleTurns> found = nullptr;
  std::strong_ordering operator<=>(const AutoScheduleTurnCache& /*other*/) const {
    return std::strong_ordering::equal;
  }
  bool operator==(const AutoScheduleTurnCache& /*other*/) const { return true; }
};

/// The order in which pipeline ranks work through chunks and micro-batches.
struct PipelineSchedule {
  PipelineScheduleKind kind = PipelineScheduleKind::kOneForwardOneBackward;
  std::int64_t chunks = 1;  ///< Number of model chunks on each pipeline rank.
  /// Number of micro-batches whose operators a pipeline rank interleaves: 2 if a forward and a
  /// backward that overlap are interleaved operator by operator; 1 if one runs after the other.
  std::int64_t strands = 1;
  /// Number of micro-batches in a group, for schedules with groups; 0: the smallest legal group.
  std::int64_t group = 0;
  /// For an `auto` schedule without an order: the only placement of chunks to search; nullopt: all.
  std::optional<ModelChunkPlacementKind> placement = std::nullopt;
  /// For an `auto` schedule: the pipeline for which its order was searched; equal pipelines have
  /// equal orders.
  OrderSearchBasis basis = {};
  /// For an `auto` schedule: cache of the order of work, if it was already found.
  AutoScheduleTurnCache known = {};
  auto operator<=>(const PipelineSchedule&) const = default;
};

/// Returns the schedules of a kind with each of these numbers of chunks and strands (overlapping
/// micro-batches), as far as the kind offers a choice.
std::vector<PipelineSchedule> schedules_of_kind(PipelineScheduleKind kind,
                                                const std::vector<std::int64_t>& chunks,
                                                const std::vector<std::int64_t>& strands);

/// Returns the assignment of chunks to `positions` pipeline ranks that a schedule uses.
ModelChunkPlacement model_chunk_placement(const PipelineSchedule& schedule, std::int64_t positions);

/// Returns the number of micro-batches in a group of a schedule with groups; the smallest legal
/// group if the schedule states none.
std::int64_t micro_batch_group_size_of_schedule(const PipelineSchedule& schedule,
                                                std::int64_t positions, std::int64_t micro_batches);

/// True if the chunk times and memory limits with which an `auto` schedule was searched have the
/// numbers of chunks and pipeline ranks of a placement.
bool fits(const OrderSearchBasis& basis, const ModelChunkPlacement& placement);

/// Returns the turns (schedule entries) of each pipeline rank, for every schedule kind except
/// `auto`, for which `schedule_turns_of_positions` exists.
std::vector<Turns> schedule_turns_of_named_kind(const PipelineSchedule& schedule,
                                                std::int64_t positions, std::int64_t micro_batches);

}  // namespace stepwright::schedule
