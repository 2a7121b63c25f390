#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/generate.h"

namespace stepwright::collective {

/// The links of a group of `members` ranks in each of `nodes` nodes; rates as seconds per byte,
/// each way.
struct GroupLinks {
  std::int32_t members = 1;
  std::int32_t nodes = 1;
  double inside_s_per_byte = 0;  ///< Seconds per byte of a rank alone.
  double inside_latency_s = 0;
  double rail_s_per_byte = 0;  ///< Seconds per byte of each rank while all of its node send out.
  double lone_s_per_byte = 0;  ///< Seconds per byte of one rank that sends out alone.
  double network_latency_s = 0;
  double message_s = 0;  ///< Seconds of each message before its bytes flow, at both ends.
};

/// The most chunks that a block is cut into on purpose.
inline constexpr std::int32_t kMostChunks = 256;

/// The value assumed of `GroupLinks::message_s` until it is measured: the work of one step.
inline constexpr double kMessageStart = 1e-6;

/// The links of the first ranks of a cluster, `members` in each node. Levels in a node count as
/// one, with the rate of the slowest and the latency of the outermost one.
GroupLinks group_links(const cluster::Cluster& cluster, std::int32_t members, std::int32_t nodes);

/// How the ranks of a node pass blocks on: directly behind one switch, else round.
Inner inner_for(const cluster::Cluster& cluster);

/// Seconds of the schedule of `spec` for a full buffer of `payload_bytes`, without making it; tiers
/// are {members, nodes}, in full duplex. `docs/collectives.md` has the formulas and how far they
/// are from playing the schedule.
double closed_seconds(const ScheduleSpec& spec, const GroupLinks& links, double payload_bytes);

/// An HO-Ring's seconds of bytes on either level, at any rates.
struct OverlappedLevels {
  Collective collective{};
  double members = 1;
  double nodes = 1;
  double inside_s = 0;
  double network_s = 0;

  /// The seconds together with what the two take beyond the longer one's bytes: chunks of the other
  /// one at its ends, and the starts of the messages, for the best number of chunks. The closed
  /// form but for latencies.
  [[nodiscard]] OverlappedLevels with_ends() const;
};

/// `spec` with the number of chunks (a power of two up to 256) that is fastest.
ScheduleSpec with_best_chunks(ScheduleSpec spec, const GroupLinks& links, double payload_bytes);

/// The fastest schedule of an operation for a group of {members, nodes}, chunks chosen.
ScheduleSpec fastest_schedule(Collective collective, const GroupLinks& links, double payload_bytes);

}  // namespace stepwright::collective
