#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/generate.h"

namespace stepwright::collective {

/// Speed of the links of a group with `members` ranks on each of `nodes` nodes, for closed-form
/// times. Rates are seconds per byte in each direction.
struct GroupLinkRates {
  std::int32_t members = 1;
  std::int32_t nodes = 1;
  double inside_s_per_byte = 0;  ///< Seconds per byte that one rank sends inside its node.
  double inside_latency_s = 0;
  /// Seconds per byte that a rank sends to another node while all ranks of its node do.
  double rail_s_per_byte = 0;
  /// Seconds per byte that a rank sends to another node while the other ranks of its node do not.
  double lone_s_per_byte = 0;
  double network_latency_s = 0;
  /// Seconds that sender and receiver of a message are busy before its bytes flow.
  double message_s = 0;
};

/// Largest number of chunks per block that is tried when the fastest number of chunks is searched.
inline constexpr std::int32_t kMaxTriedChunksPerBlock = 256;

/// Default of the seconds that both ends of a message are busy before its bytes flow (host work of
/// one step), for machines where it is not measured.
inline constexpr double kDefaultMessageStartSeconds = 1e-6;

/// Returns the link speeds for the first ranks of a cluster, `members` on each of `nodes` nodes.
/// Several network levels inside a node count as one, with the rate of the slowest and the latency
/// of the outermost.
GroupLinkRates process_group_link_rates(const cluster::Cluster& cluster, std::int32_t members,
                                        std::int32_t nodes);

/// Returns how the ranks of a node exchange blocks: directly if a single switch joins them, else in
/// a ring.
IntraGroupPattern intra_node_pattern(const cluster::Cluster& cluster);

/// Returns the seconds of a collective schedule by a formula, without generating the schedule.
/// `payload_bytes`: bytes of the full buffer. The tiers of `spec` must be {members, nodes}; links
/// are full duplex. Formulas and their error against simulations: `docs/collectives.md`.
double closed_form_collective_seconds(const CollectiveScheduleSpec& spec,
                                      const GroupLinkRates& links, double payload_bytes);

/// Seconds of a hierarchical ring collective (HO-Ring), whose traffic inside nodes and between
/// nodes overlaps: the transfer time of the bytes on each level.
struct OverlappedLevelSeconds {
  CollectiveOperation collective{};
  double members = 1;
  double nodes = 1;
  double inside_s = 0;
  double network_s = 0;

  /// Returns the transfer times inside nodes and between nodes, in seconds, each plus the seconds
  /// in which the other level cannot overlap it: chunks at the start and end, and the starts of
  /// messages, for the best number of chunks. Except for latencies, the result equals the
  /// closed-form time.
  [[nodiscard]] OverlappedLevelSeconds add_non_overlapping_seconds() const;
};

/// Returns `spec` with the number of chunks (a power of two up to 256) that gives the shortest
/// closed-form time.
CollectiveScheduleSpec with_fastest_chunk_count(CollectiveScheduleSpec spec,
                                                const GroupLinkRates& links, double payload_bytes);

/// Returns the schedule with the shortest closed-form time for an operation, over all algorithms
/// and numbers of chunks. The group has {members, nodes} of `links`.
CollectiveScheduleSpec fastest_collective_schedule(CollectiveOperation collective,
                                                   const GroupLinkRates& links,
                                                   double payload_bytes);

}  // namespace stepwright::collective
