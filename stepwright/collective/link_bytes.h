#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// Bytes on links of one kind, in one direction (out of their unit).
struct LinkLoad {
  std::string name;  ///< Name of the level, or "nic".
  std::int64_t units = 0;
  /// The unit whose link carries the most bytes; the first of equal ones.
  std::int64_t busiest_unit = 0;
  double busiest_bytes = 0;
  double mean_bytes = 0;
};

struct LinkLoads {
  /// Loads in the order of `Cluster::levels`, on the uplinks of the units that a level joins
  /// (devices, nodes, ...). Levels inside a node carry messages inside the node, the other levels
  /// messages between nodes.
  std::vector<LinkLoad> levels;
  /// Load of all NICs of all nodes (`Cluster::nic_of_device`); no units if there are no NICs.
  LinkLoad nics;
};

/// Adds up messages between ranks for each link; rank r is device r.
class LinkBytes {
 public:
  LinkBytes(const cluster::Cluster& cluster, std::int64_t ranks);

  void add(std::int64_t from, std::int64_t to, double bytes);
  [[nodiscard]] LinkLoads loads() const;

 private:
  const cluster::Cluster& cluster_;
  std::size_t node_levels_;
  std::vector<std::vector<double>> levels_;  ///< Bytes by level and unit.
  std::vector<double> nics_;                 ///< Bytes by NIC, over all nodes.
};

}  // namespace stepwright::collective
