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

/// Nanoseconds and bytes of one chunk for one micro-batch.
struct ChunkLoad {
  std::int64_t forward_ns = 0;
  std::int64_t data_ns = 0;      ///< Nanoseconds of data gradients.
  std::int64_t weight_ns = 0;    ///< Nanoseconds of weight gradients.
  std::int64_t backward_ns = 0;  ///< Nanoseconds of an unsplit backward.
  /// Bytes kept from the forward to the backward or data gradients.
  std::int64_t forward_bytes = 0;
  std::int64_t weight_bytes = 0;  ///< Bytes kept from the data gradients to the weight gradients.
  auto operator<=>(const ChunkLoad&) const = default;
};

/// Placements that the search for an order (`auto`) may use.
inline constexpr Named<PlacementKind> kFoundPlacements[] = {{PlacementKind::kV, "v"},
                                                            {PlacementKind::kCyclic, "cyclic"}};

/// The pipeline for which the order of an `auto` schedule is searched.
struct OrderBasis {
  PlacementKind placement = PlacementKind::kV;  ///< Placement of the chunks: kV or kCyclic.
  /// Loads of the chunks in model order; empty: no order has been chosen yet.
  std::vector<ChunkLoad> chunks;
  std::int64_t hop_ns = 0;  ///< Nanoseconds of a message between positions.
  /// For each position, the most bytes that its chunks may keep.
  std::vector<std::int64_t> room_bytes;
  auto operator<=>(const OrderBasis&) const = default;
};

/// Turns (entries of the schedule) found for a basis, by position, and the number of micro-batches
/// for which they hold.
struct FoundTurns {
  std::int64_t micro_batches = 1;
  std::vector<Turns> turns;
};

/// Cached turns of an order that was already found; null: none. Copies of a plan share them. Equal
/// bases have equal orders, so cached turns never make two schedules differ.
struct CachedTurns {
  std::shared_ptr<const FoundTurns> found = nullptr;
  std::strong_ordering operator<=>(const CachedTurns& /*other*/) const {
    return std::strong_ordering::equal;
  }
  bool operator==(const CachedTurns& /*other*/) const { return true; }
};

/// The order in which pipeline positions work, and the number of micro-batches that overlap.
struct Schedule {
  ScheduleKind kind = ScheduleKind::kOneForwardOneBackward;
  std::int64_t chunks = 1;  ///< Number of model chunks on each pipeline position.
  /// 2: a forward and a backward of one turn are interleaved operator by operator; 1: not.
  std::int64_t strands = 1;
  /// Micro-batches of a group, for schedules with groups; 0: `least_group`.
  std::int64_t group = 0;
  /// For `auto` without an order: the only placement to search; nullopt: all placements.
  std::optional<PlacementKind> placement = std::nullopt;
  /// Pipeline for which an `auto` order is searched; equal bases have equal orders.
  OrderBasis basis = {};
  CachedTurns known = {};  ///< Order of `auto`, if already found.
  auto operator<=>(const Schedule&) const = default;
};

/// Returns the schedules of a kind with these numbers of chunks and strands, as far as the kind
/// offers a choice.
std::vector<Schedule> schedules_of(ScheduleKind kind, const std::vector<std::int64_t>& chunks,
                                   const std::vector<std::int64_t>& strands);

/// Returns the placement of a schedule on `positions` pipeline positions.
Placement placement_of(const Schedule& schedule, std::int64_t positions);

/// Returns the number of micro-batches in a group of a schedule with groups.
std::int64_t group_of(const Schedule& schedule, std::int64_t positions, std::int64_t micro_batches);

/// True if a basis has the chunks and positions of a placement.
bool fits(const OrderBasis& basis, const Placement& placement);

/// Returns the turns (entries of the schedule) of each position, for every schedule kind except
/// `auto`. `all_turns` (found/all_turns.h) also handles `auto`.
std::vector<Turns> named_turns(const Schedule& schedule, std::int64_t positions,
                               std::int64_t micro_batches);

}  // namespace stepwright::schedule
