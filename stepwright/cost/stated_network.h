#pragma once

#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {

/// Buffer size (1 GiB) of the all-reduce to which the bus bandwidth stated by a cluster file
/// refers: so large that latency does not matter.
inline constexpr double kStatedBandwidthBufferBytes = 1024.0 * 1024 * 1024;

/// Returns `constants` with `congestion` set so that an all-reduce of `kStatedBandwidthBufferBytes`
/// over all devices reaches the bus bandwidth that the cluster file states; all operations get the
/// same value, 0 if the all-reduce is too slow even without congestion. On two nodes the shares of
/// line rate are lowered instead. Unchanged if the cluster states no bandwidth or is one node.
MachineCollectiveConstants fit_congestion_to_stated_bandwidth(const cluster::Cluster& cluster,
                                                              MachineCollectiveConstants constants);

}  // namespace stepwright::cost
