#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/generate.h"
#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// Settings for the simulation of a schedule.
struct ScheduleSimulationOptions {
  double payload_bytes = 0;  ///< Bytes of the full buffer.
  /// True if both directions of a link have its full rate; false: they share it.
  bool full_duplex = true;
  double message_s = 0;  ///< Seconds that each message needs at both ends before its bytes flow.
  /// For `simulate_generated_schedule`: true if every rank is simulated even if one node could
  /// represent all.
  bool every_rank = false;
};

/// Returns the seconds of a schedule whose rank r is device r of `cluster`, without other traffic,
/// by an event simulation of fluid flows. A message flows once both ends have reached it, at its
/// fair share of the links on its path (`FairShare`); its last byte arrives one latency later.
/// Within a channel, a send follows when the bytes of the previous one have left, and a receive
/// when its bytes have arrived; all other steps follow completed steps. Copies and sums take no
/// time. Throws `Error{kInput}` if the cluster has too few devices, `Error{kRuntime}` if the
/// schedule does not end.
double simulate_schedule_seconds(const CollectiveSchedule& schedule,
                                 const cluster::Cluster& cluster,
                                 const ScheduleSimulationOptions& setting);

/// Largest group whose ranks are all simulated, for which most machines have memory.
inline constexpr std::int32_t kMaxFullySimulatedRanks = 8192;

/// True if one node can represent all: under `spec` every node does the same towards nodes at the
/// same distance (for the halving algorithms: whose number differs in the same bit), on equal
/// links. Needs tiers {devices of a node, nodes}, one level of switches between nodes, and no tree.
bool nodes_are_alike(const ScheduleSpec& spec, const cluster::Cluster& cluster);

/// Returns `simulate_schedule_seconds` of the schedule generated from `spec`. If nodes are alike,
/// only the ranks of one node are generated and simulated, and their messages to other nodes arrive
/// at themselves, which gives the same seconds for a cluster of any size. Throws as
/// `simulate_schedule_seconds` and `schedule_without_ranks`, and `Error{kInput}` if every rank of
/// more than `kMaxFullySimulatedRanks` is requested.
double simulate_generated_schedule(const ScheduleSpec& spec, const cluster::Cluster& cluster,
                                   const ScheduleSimulationOptions& setting);

}  // namespace stepwright::collective
