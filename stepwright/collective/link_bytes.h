#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// The bytes that links of one kind carry, one way (out of their unit).
struct LinkLoad {
  std::string name;  ///< The level's, or "nic".
  std::int64_t units = 0;
  std::int64_t busiest_unit = 0;  ///< The unit that carries most; the first of equal ones.
  double busiest_bytes = 0;
  double mean_bytes = 0;
};

struct LinkLoads {
  /// The loads in the order of `Cluster::levels`: the uplinks of the units that a level joins
  /// (devices, nodes, ...). Levels inside a node carry what stays in the node, the others what
  /// leaves it.
  std::vector<LinkLoad> levels;
  /// NIC by NIC over all nodes (`Cluster::nic_of_device`); no units without NICs.
  LinkLoad nics;
};

/// Adds messages between ranks, which are the devices in their order, up per link.
class LinkBytes {
 public:
  LinkBytes(const cluster::Cluster& cluster, std::int64_t ranks);

  void add(std::int64_t from, std::int64_t to, double bytes);
  [[nodiscard]] LinkLoads loads() const;

 private:
  const cluster::Cluster& cluster_;
  std::size_t node_levels_;
  std::vector<std::vector<double>> levels_;  ///< Per level and unit.
  std::vector<double> nics_;                 ///< Per NIC of all nodes.
};

}  // namespace stepwright::collective
