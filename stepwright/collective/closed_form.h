#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/generate.h"

namespace stepwright::collective {

/// The links of a group of `members` ranks in each of `nodes` nodes; rates are seconds per byte, in
/// each direction.
struct GroupLinks {
  std::int32_t members = 1;
  std::int32_t nodes = 1;
  double inside_s_per_byte = 0;  ///< Seconds per byte of one rank inside a node.
  double inside_latency_s = 0;
  /// Seconds per byte of each rank while all ranks of its node send to other nodes.
  double rail_s_per_byte = 0;
  /// Seconds per byte of one rank that sends to another node while the others do not.
  double lone_s_per_byte = 0;
  double network_latency_s = 0;
  double message_s = 0;  ///< Seconds that each message needs at both ends before its bytes flow.
};

/// Largest number of chunks into which `with_fastest_chunk_count` cuts a block.
inline constexpr std::int32_t kMostChunks = 256;

/// Assumed `GroupLinks::message_s` until it is measured: the host work of one step.
inline constexpr double kMessageStartSeconds = 1e-6;

/// Returns the links of the first ranks of a cluster, `members` in each node. Several levels in a
/// node count as one, with the rate of the slowest level and the latency of the outermost.
GroupLinks group_links(const cluster::Cluster& cluster, std::int32_t members, std::int32_t nodes);

/// Returns how the ranks of a node pass blocks to each other: directly if one switch joins them,
/// else in a ring.
IntraGroupPattern intra_node_pattern(const cluster::Cluster& cluster);

/// Returns the seconds of the schedule of `spec` for a full buffer of `payload_bytes`, without
/// generating it; tiers are {members, nodes}, in full duplex. `docs/collectives.md` has the
/// formulas and their error against simulated schedules.
double closed_form_seconds(const ScheduleSpec& spec, const GroupLinks& links, double payload_bytes);

/// Seconds in which an HO-Ring's bytes pass each level, at any rates.
struct OverlappedLevels {
  Collective collective{};
  double members = 1;
  double nodes = 1;
  double inside_s = 0;
  double network_s = 0;

  /// Returns the levels with the additional seconds of their overlap: chunks of the shorter level
  /// at the ends of the longer one, and the starts of messages, for the best number of chunks.
  /// Equals the closed form except for latencies.
  [[nodiscard]] OverlappedLevels with_ends() const;
};

/// Returns `spec` with its fastest number of chunks (a power of two up to 256).
ScheduleSpec with_fastest_chunk_count(ScheduleSpec spec, const GroupLinks& links,
                                      double payload_bytes);

/// Returns the fastest schedule of an operation for a group of {members, nodes}, with the best
/// number of chunks.
ScheduleSpec fastest_schedule(Collective collective, const GroupLinks& links, double payload_bytes);

}  // namespace stepwright::collective
