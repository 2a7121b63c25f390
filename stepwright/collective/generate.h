#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/collective/algorithm.h"
#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// How the ranks of one group (such as a node) exchange their blocks of the buffer with each other.
enum class IntraGroupPattern : std::uint8_t {
  kDirect,  ///< Each rank sends to every other rank: through a switch, with one latency.
  /// Each rank sends only to the next rank: for meshes, and for several levels inside a node.
  kRing,
};

/// Parameters from which a collective schedule is generated.
struct CollectiveScheduleSpec {
  /// Collective algorithm that the schedule follows; one of `kGeneratedCollectiveAlgorithmNames`.
  CollectiveAlgorithm method{};
  CollectiveOperation collective{};
  /// Number of ranks in a group of each level, innermost first: {8, 4} means four nodes of eight
  /// ranks. Flat algorithms use only the product, the number of ranks.
  std::vector<std::int32_t> tiers{1};
  /// Number of chunks into which a rank's block is cut; for a tree, the whole buffer; for `kRings`,
  /// the part of a block that each ring carries.
  std::int32_t chunks = 1;
  IntraGroupPattern inner = IntraGroupPattern::kDirect;

  bool operator==(const CollectiveScheduleSpec&) const = default;
};

/// Returns into how many chunks a block is cut so that sending overlaps additions: chunks of at
/// least `chunk_bytes`, at most 32. This project's process group cuts blocks in this way.
std::int32_t message_chunks_per_block(double block_bytes, double chunk_bytes);

/// Returns the number of ranks of a schedule.
std::int32_t collective_schedule_rank_count(const CollectiveScheduleSpec& spec);

/// Returns the number of pieces in one rank's block: chunks times the parts into which the
/// algorithm divides a block.
std::int32_t pieces_per_block(const CollectiveScheduleSpec& spec);

/// Returns why no schedule exists for these parameters; nullopt: one exists. Ranks times chunks is
/// limited to 2^30.
std::optional<std::string> reason_no_collective_schedule_exists(const CollectiveScheduleSpec& spec);

/// Returns a schedule with the sizes of its buffers but without any rank's steps. Fails with
/// `kUnsupported` and the reason if no schedule exists.
CollectiveSchedule empty_collective_schedule(const CollectiveScheduleSpec& spec);

/// Generates the schedule of one rank without those of the other ranks. A schedule for `spec` must
/// exist (`reason_no_collective_schedule_exists`), and `rank` must be one of its ranks.
RankCollectiveSchedule generate_rank_schedule(const CollectiveScheduleSpec& spec,
                                              std::int32_t rank);

/// Generates the schedule of all ranks. Fails with `kUnsupported` and the reason if none exists.
CollectiveSchedule generate_collective_schedule(const CollectiveScheduleSpec& spec);

}  // namespace stepwright::collective
