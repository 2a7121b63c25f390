#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// Bytes that links of one kind carry in one direction, out of their unit (a device, a node, ...).
struct DirectedLinkBytes {
  std::string name;  ///< Name of the network level, or "nic".
  std::int64_t units = 0;
  /// Index of the unit (device, node, ...) whose link carries the most bytes; the first one if
  /// several carry as many.
  std::int64_t busiest_unit = 0;
  double busiest_bytes = 0;
  double mean_bytes = 0;
};

struct LinkLoads {
  /// Bytes on the uplinks of each network level, in the order of `Cluster::levels`. Messages inside
  /// a node use only the levels inside it; messages between nodes use only the others.
  std::vector<DirectedLinkBytes> levels;
  /// Bytes on the NICs (network cards) of all nodes; `units` is 0 if the cluster states no NICs.
  DirectedLinkBytes nics;
};

/// Adds up the bytes of messages between ranks on every link of a cluster. Rank r runs on device r.
class LinkByteCounter {
 public:
  LinkByteCounter(const cluster::Cluster& cluster, std::int64_t ranks);

  void add(std::int64_t from, std::int64_t to, double bytes);
  [[nodiscard]] LinkLoads loads() const;

 private:
  const cluster::Cluster& cluster_;
  std::size_t node_levels_;
  /// Bytes on the uplinks of each network level, for each unit (device, node, ...) that the level
  /// joins: [level][unit].
  std::vector<std::vector<double>> levels_;
  /// For each NIC (network card) of all nodes, the bytes that it sends.
  std::vector<double> nics_;
};

}  // namespace stepwright::collective
