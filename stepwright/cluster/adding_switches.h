#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// Which switches of a cluster can reduce and multicast data themselves (in-network reduction,
/// SHARP).
enum class InNetworkReductionSupport : std::uint8_t {
  kNone,
  kInsideNodes,   ///< Only the switches inside nodes reduce (NVLink SHARP).
  kBetweenNodes,  ///< Only the network switches reduce (SHARP); inside a node the ranks add.
  kEverywhere,
};

constexpr bool node_switches_reduce(InNetworkReductionSupport where) {
  return where == InNetworkReductionSupport::kInsideNodes ||
         where == InNetworkReductionSupport::kEverywhere;
}

/// Fewest ranks per node for which collectives use NVLink switches to reduce: NCCL uses NVLS for
/// whole nodes of eight.
inline constexpr std::int64_t kMinNvlsRanksPerNode = 8;

/// Returns which switches of a cluster reduce data: NVSwitches from the Hopper generation on, if at
/// least eight devices share them; network switches are assumed not to.
InNetworkReductionSupport in_network_reduction_support(const Cluster& cluster);

}  // namespace stepwright::cluster
