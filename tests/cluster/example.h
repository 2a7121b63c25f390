#pragma once

#include <string_view>

namespace stepwright::cluster {

/// A cluster for tests, written in full: six nodes on leaf switches of four nodes each.
inline constexpr std::string_view kInline = R"(name: two-boxes
device:
  name: wonder
  memory: 80e9
  memory_bandwidth: 2e12
  peak: {fp32: 60e12, bf16: 900e12}
nodes: 6
devices_per_node: 4
nics_per_node: 2
nic: 25e9
levels:
  - {name: pair, size: 2, bandwidth: 200e9, latency: 2e-6}
  - {name: pcie, size: 4, bandwidth: 64e9}
network:
  - {name: leaf, nodes: 4, oversubscription: 2}
  - {name: spine, oversubscription: 6, latency: 9e-6}
all_reduce: 12 GB/s
)";

}  // namespace stepwright::cluster
