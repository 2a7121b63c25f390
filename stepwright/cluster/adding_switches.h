#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// Which switches of a cluster can reduce and multicast data themselves (in-network reduction,
/// SHARP).
enum class InNetworkReduction : std::uint8_t {
  kNone,
  kInsideNodes,   ///< Only the switches inside nodes reduce (NVLink SHARP).
  kBetweenNodes,  ///< Only the network switches reduce (SHARP); inside a node the ranks add.
  kEverywhere,
};

constexpr bool node_switches_reduce(InNetworkReduction where) {
  return where == InNetworkReduction::kInsideNodes || where == InNetworkReduction::kEverywhere;
}

/// Fewest ranks per node for which collectives use NVLink switches to reduce: NCCL uses NVLS for
/// whole nodes of eight.
inline constexpr std::int64_t kMinNvlsRanks = 8;

/// Returns which switches of a cluster reduce data: NVSwitches from the Hopper generation on, if at
/// least eight devices share them; network switches are assumed not to.
InNetworkReduction in_network_reduction(const Cluster& cluster);

}  // namespace stepwright::cluster
