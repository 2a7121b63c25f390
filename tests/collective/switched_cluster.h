#pragma once

#include "stepwright/cluster/cluster.h"

namespace stepwright::collective {

inline constexpr double kTestNic = 25e9;

/// Returns a cluster of `nodes` nodes with `members` devices behind a switch that is `ratio` times
/// as fast as a NIC. Latencies are 2 us inside nodes and 6 us between them.
inline cluster::Cluster switched(std::int32_t members, std::int32_t nodes, std::int32_t nics,
                                 double ratio) {
  cluster::Cluster cluster;
  cluster.nodes = nodes;
  cluster.devices_per_node = members;
  cluster.nics_per_node = nics;
  cluster.nic_bytes_per_s = kTestNic;
  for (std::int32_t i = 0; i < members; ++i) cluster.nic_of_device.push_back(i * nics / members);
  cluster.levels = {{"inside", members, ratio * kTestNic, 2e-6},
                    {.name = "network",
                     .size = std::int64_t{members} * nodes,
                     .uplink_bytes_per_s = nics * kTestNic,
                     .latency_s = 6e-6,
                     .network = true}};
  return cluster;
}

}  // namespace stepwright::collective
