#pragma once

#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {

/// The buffer of the all-reduce whose bandwidth a cluster states: large enough that bytes alone
/// count.
inline constexpr double kStatedBytes = 1024.0 * 1024 * 1024;

/// `constants` with as much congestion as lets an all-reduce of kStatedBytes over all devices
/// attain the bus bandwidth that the cluster states (none where it is faster than without), of
/// every operation alike, as they share the network. Where nothing crowds, on two nodes, the shares
/// of the line rate fall instead. As they are where the cluster states nothing or is one node.
CollectiveConstants of_stated_network(const cluster::Cluster& cluster,
                                      CollectiveConstants constants);

}  // namespace stepwright::cost
