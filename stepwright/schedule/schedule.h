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

/// The seconds and bytes of one chunk for one micro-batch.
struct ChunkLoad {
  std::int64_t forward_ns = 0;
  std::int64_t data_ns = 0;      ///< Nanoseconds of data gradients.
  std::int64_t weight_ns = 0;    ///< Nanoseconds of weight gradients.
  std::int64_t backward_ns = 0;  ///< Nanoseconds of a backward that is not cut.
  /// Bytes kept from the forward to the backward or data gradients.
  std::int64_t forward_bytes = 0;
  std::int64_t weight_bytes = 0;  ///< Bytes kept from the data gradients to the weight gradients.
  auto operator<=>(const ChunkLoad&) const = default;
};

/// The placements in which the chunks of an order that is found may lie.
inline constexpr Named<PlacementKind> kFoundPlacements[] = {{PlacementKind::kV, "v"},
                                                            {PlacementKind::kCyclic, "cyclic"}};

/// The basis for which the order of an `auto` schedule is found.
struct OrderBasis {
  PlacementKind placement = PlacementKind::kV;  ///< Either kV or kCyclic.
  /// Chunks in model order; empty: no order is settled yet.
  std::vector<ChunkLoad> chunks;
  std::int64_t hop_ns = 0;               ///< Nanoseconds of a message between positions.
  std::vector<std::int64_t> room_bytes;  ///< By position: what its chunks keep at most.
  auto operator<=>(const OrderBasis&) const = default;
};

/// Turns that were found for a basis, by position, for so many micro-batches.
struct FoundTurns {
  std::int64_t micro_batches = 1;
  std::vector<Turns> turns;
};

/// Turns that are not looked for again, if any; with plans that are copied they are shared. The
/// same basis has the same order: whether it is known tells no two schedules apart.
struct KnownTurns {
  std::shared_ptr<const FoundTurns> found = nullptr;
  std::strong_ordering operator<=>(const KnownTurns& /*other*/) const {
    return std::strong_ordering::equal;
  }
  bool operator==(const KnownTurns& /*other*/) const { return true; }
};

/// The order in which pipeline positions work, and how many micro-batches run beside each other.
struct Schedule {
  ScheduleKind kind = ScheduleKind::kOneForwardOneBackward;
  std::int64_t chunks = 1;   ///< Model chunks of a pipeline position.
  std::int64_t strands = 1;  ///< 2: a forward and a backward of a turn run operator by operator.
  /// Micro-batches of a group, for schedules with groups; 0: `least_group`.
  std::int64_t group = 0;
  /// For `auto` without an order: the only placement to search; nullopt: all placements.
  std::optional<PlacementKind> placement = std::nullopt;
  OrderBasis basis = {};  ///< Basis of an `auto` order: equal bases have equal orders.
  KnownTurns known = {};  ///< Order of `auto`, if already found.
  auto operator<=>(const Schedule&) const = default;
};

/// The schedules of a kind with these chunks and strands, as far as it has a choice of them.
std::vector<Schedule> schedules_of(ScheduleKind kind, const std::vector<std::int64_t>& chunks,
                                   const std::vector<std::int64_t>& strands);

/// The placement of a schedule on so many pipeline positions.
Placement placement_of(const Schedule& schedule, std::int64_t positions);

/// The micro-batches of a group of a schedule with groups.
std::int64_t group_of(const Schedule& schedule, std::int64_t positions, std::int64_t micro_batches);

/// Whether what an order is found for has the chunks and positions of a placement.
bool fits(const OrderBasis& basis, const Placement& placement);

/// Turns by position, for a schedule whose kind fixes their order: every kind but `auto`.
/// `all_turns` (found/all_turns.h) returns the turns of every schedule.
std::vector<Turns> named_turns(const Schedule& schedule, std::int64_t positions,
                               std::int64_t micro_batches);

}  // namespace stepwright::schedule
