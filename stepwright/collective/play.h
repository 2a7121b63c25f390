#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/generate.h"
#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// How a schedule is played.
struct PlaySetting {
  double payload_bytes = 0;  ///< Bytes of the full buffer.
  bool full_duplex = true;   ///< False: the two ways of each link share its rate.
  double message_s = 0;      ///< Seconds of each message before its bytes flow, at both ends.
  bool every_rank = false;   ///< `play_generated`: also where one node can stand for all.
};

/// Seconds of a schedule whose rank r is device r of `cluster`, alone on it: an event simulation of
/// fluid flows. A message flows once both ends have come to it, at its fair share of the links on
/// its way (`FairShare`); its last byte arrives one latency later. Within a channel, sends follow
/// each other when the bytes have left, and receives when they have come; everything else follows
/// what is over. Copies and sums take no time. Throws `Error{kInput}` when the cluster has too few
/// devices, `Error{kRuntime}` when the schedule does not end.
double play_seconds(const CollectiveSchedule& schedule, const cluster::Cluster& cluster,
                    const PlaySetting& setting);

/// The largest group that is played with all its steps, for which most machines have memory.
inline constexpr std::int32_t kMostEveryRank = 8192;

/// Whether every node does the same under `spec`, towards nodes at the same distance (the halving
/// ones: whose number differs in the same bit), on links that are alike, so that one node can stand
/// for all: tiers {devices of a node, nodes}, one level of switches between nodes, no tree.
bool nodes_are_alike(const ScheduleSpec& spec, const cluster::Cluster& cluster);

/// `play_seconds` of the schedule that is generated from `spec`. Where nodes are alike, only the
/// ranks of one are made and played, and what they send to other nodes comes to themselves: the
/// same seconds, for a cluster of any size. Throws as `play_seconds` and `schedule_frame`, and
/// `Error{kInput}` when every rank of more than `kMostEveryRank` is asked for.
double play_generated(const ScheduleSpec& spec, const cluster::Cluster& cluster,
                      const PlaySetting& setting);

}  // namespace stepwright::collective
