#pragma once

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/link_bytes.h"
#include "stepwright/traffic/matrix.h"

namespace stepwright::traffic {

/// Adds up the traffic of a step on each link of the cluster, rank by rank.
collective::LinkLoads link_loads(const TrafficMatrix& matrix, const cluster::Cluster& cluster);

}  // namespace stepwright::traffic
