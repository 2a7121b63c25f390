#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/generate.h"
#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// Settings for the simulation of a collective schedule.
struct CollectiveSimulationOptions {
  double payload_bytes = 0;  ///< Bytes of the collective's full buffer.
  /// True if each direction of a link has the full rate; false: both directions share it.
  bool full_duplex = true;
  double message_s = 0;  ///< Seconds that both ends of a message are busy before its bytes flow.
  /// True: simulate every rank, even if simulating one node gives the same time
  /// (`simulate_generated_collective`).
  bool every_rank = false;
};

/// Returns the seconds of a collective schedule on an idle cluster, by an event simulation; rank r
/// runs on device r. A message flows when both ends are ready, at its fair share of each link
/// (`MaxMinFairRates`), and arrives one latency later. In a channel, a send starts when the
/// previous one's bytes have left, a receive when its bytes have arrived; copies and sums take no
/// time. Fails with `kInput` if the cluster has too few devices, with `kRuntime` if the schedule
/// does not end.
double simulate_collective_seconds(const CollectiveSchedule& schedule,
                                   const cluster::Cluster& cluster,
                                   const CollectiveSimulationOptions& setting);

/// Largest number of ranks that are all simulated; most machines have memory for that.
inline constexpr std::int32_t kMaxFullySimulatedRanks = 8192;

/// True if all nodes do the same in a schedule on equal links, so that simulating one node gives
/// the time of all. Requires tiers {devices of a node, nodes}, one level of switches between nodes,
/// and no tree algorithm.
bool has_equal_node_schedules(const CollectiveScheduleSpec& spec, const cluster::Cluster& cluster);

/// Generates the schedule of `spec` and returns its simulated seconds. If all nodes do the same,
/// simulates only one node, which gives the same seconds for a cluster of any size. Fails with
/// `kUnsupported` if there is no schedule, with `kInput` if the cluster is too small or if every
/// rank of more than `kMaxFullySimulatedRanks` is requested.
double simulate_generated_collective(const CollectiveScheduleSpec& spec,
                                     const cluster::Cluster& cluster,
                                     const CollectiveSimulationOptions& setting);

}  // namespace stepwright::collective
