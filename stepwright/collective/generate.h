#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/collective/algorithm.h"
#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// How the ranks of one group below the outermost tier pass blocks to each other.
enum class IntraGroupPattern : std::uint8_t {
  kDirect,  ///< A message to each peer: a switch carries them without sharing, with one latency.
  kRing,    ///< A message only to the next rank: for meshes, and for buses in a row.
};

/// The parameters of a generated schedule.
struct ScheduleSpec {
  Algorithm method{};  ///< One of the algorithms of `kGeneratedNames`.
  Collective collective{};
  /// Ranks of a group on each tier, innermost first; their product is the number of ranks.
  /// {8, 4}: four nodes of eight. Flat algorithms take only the product.
  std::vector<std::int32_t> tiers{1};
  /// Number of chunks of a block; for a tree, of the buffer; for `kRings`, of each ring's part of a
  /// block.
  std::int32_t chunks = 1;
  IntraGroupPattern inner = IntraGroupPattern::kDirect;

  bool operator==(const ScheduleSpec&) const = default;
};

/// Returns the number of chunks, of at least `chunk_bytes` and at most 32, into which a block is
/// cut if it is sent while it is computed: the process group's rule.
std::int32_t chunks_of(double block_bytes, double chunk_bytes);

/// Number of ranks of a spec.
std::int32_t ranks_of(const ScheduleSpec& spec);

/// Number of pieces of a rank's block: chunks times the parts into which the algorithm divides it.
std::int32_t pieces_per_block(const ScheduleSpec& spec);

/// Returns why a spec has no schedule; nullopt if it has one. The pieces of all ranks' buffers, and
/// so ranks x chunks, are limited to 2^30.
std::optional<std::string> no_schedule_reason(const ScheduleSpec& spec);

/// Returns the schedule of `spec` without its ranks, only with the sizes of buffers. Throws
/// `Error{kUnsupported}` with `no_schedule_reason`.
CollectiveSchedule schedule_without_ranks(const ScheduleSpec& spec);

/// Returns the schedule of one rank, generated without the other ranks. `spec` must have a frame,
/// and `rank` must exist.
RankSchedule schedule_rank(const ScheduleSpec& spec, std::int32_t rank);

/// Returns the schedule with all ranks. Throws as `schedule_without_ranks`.
CollectiveSchedule generate(const ScheduleSpec& spec);

}  // namespace stepwright::collective
