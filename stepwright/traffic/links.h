#pragma once

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/link_bytes.h"
#include "stepwright/traffic/matrix.h"

namespace stepwright::traffic {

/// Returns the bytes that a step sends over each link of the cluster, from the bytes between pairs
/// of ranks.
collective::LinkLoads bytes_over_each_link(const TrafficMatrix& matrix,
                                           const cluster::Cluster& cluster);

}  // namespace stepwright::traffic
