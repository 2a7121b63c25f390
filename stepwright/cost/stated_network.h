#pragma once

#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {

/// Bytes of the all-reduce whose bandwidth a cluster states: large enough that latency does not
/// matter.
inline constexpr double kStatedBandwidthBytes = 1024.0 * 1024 * 1024;

/// Returns `constants` with congestion set so that an all-reduce of kStatedBandwidthBytes over all
/// devices attains the bus bandwidth that the cluster states (0 if it would be slower without
/// congestion); all operations get it alike, as they share the network. On two nodes, where nothing
/// is crowded, the shares of the line rate are lowered instead. Returned unchanged where the
/// cluster states nothing or is one node.
CollectiveConstants fit_to_stated_network(const cluster::Cluster& cluster,
                                          CollectiveConstants constants);

}  // namespace stepwright::cost
