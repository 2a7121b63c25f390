#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/traffic/matrix.h"

namespace stepwright {

/// What links of one kind carry in a step, one way (out of their unit).
struct LinkLoad {
  std::string name;  ///< The level's, or "nic".
  std::int64_t units = 0;
  std::int64_t busiest_unit = 0;  ///< The first of those that carry most.
  double busiest_bytes = 0;
  double mean_bytes = 0;
};

struct LinkLoads {
  /// As `Cluster::levels`: the uplinks of the units that a level joins (devices, nodes, ...).
  /// Levels inside a node carry what stays in the node, the others what leaves it.
  std::vector<LinkLoad> levels;
  /// NIC by NIC over all nodes (`Cluster::nic_of_device`); no units without NICs.
  LinkLoad nics;
};

/// The traffic of a step laid over the links of the cluster, rank by rank.
LinkLoads link_loads(const TrafficMatrix& matrix, const Cluster& cluster);

}  // namespace stepwright
