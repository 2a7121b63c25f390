#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/collective/algorithm.h"
#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// How the ranks of one group below the outermost tier pass blocks to each other.
enum class Inner : std::uint8_t {
  kDirect,  ///< A link to each peer: a switch carries that without sharing, with one latency.
  kRing,    ///< A link to the next rank: for meshes and buses in a row.
};

/// The parameters of a generated schedule.
struct ScheduleSpec {
  Algorithm method{};  ///< A method of `kGeneratedNames`.
  Collective collective{};
  /// Ranks of a group on each tier, innermost first; their product is the number of ranks.
  /// {8, 4}: four nodes of eight. Flat algorithms take only the product.
  std::vector<std::int32_t> tiers{1};
  /// Parts that a block is cut into; of a tree the buffer, of `kRings` each ring's part of a block.
  std::int32_t chunks = 1;
  Inner inner = Inner::kDirect;

  bool operator==(const ScheduleSpec&) const = default;
};

/// Into how many chunks of at least so many bytes a block is cut that is sent as it is known, up to
/// 32: the process group's rule.
std::int32_t chunks_of(double block_bytes, double chunk_bytes);

/// Ranks of a spec.
std::int32_t ranks_of(const ScheduleSpec& spec);

/// Pieces of a rank's block: its chunks, for each of the parts that the algorithm cuts it into.
std::int32_t block_pieces(const ScheduleSpec& spec);

/// Why there is no such schedule; nothing when there is one. Pieces of all ranks' buffers, and so
/// ranks x chunks, are limited to 2^30.
std::optional<std::string> why_not(const ScheduleSpec& spec);

/// A schedule of `spec` without its ranks: sizes of buffers. Throws `Error{kUnsupported}` with
/// `why_not`.
CollectiveSchedule schedule_frame(const ScheduleSpec& spec);

/// The part of one rank, made without the others. `spec` has a frame, `rank` exists.
RankSchedule schedule_rank(const ScheduleSpec& spec, std::int32_t rank);

/// The whole schedule. Throws as `schedule_frame`.
CollectiveSchedule generate(const ScheduleSpec& spec);

}  // namespace stepwright::collective
