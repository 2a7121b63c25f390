#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// The switches of a cluster that can reduce and multicast data (in-network reduction).
enum class InNetworkReduction : std::uint8_t {
  kNone,
  kInsideNodes,   ///< The switches inside nodes (NVLink SHARP).
  kBetweenNodes,  ///< The switches of the network (SHARP); inside a node the ranks add.
  kEverywhere,
};

constexpr bool adds_inside(InNetworkReduction where) {
  return where == InNetworkReduction::kInsideNodes || where == InNetworkReduction::kEverywhere;
}

/// Ranks per node from which libraries use the switches for reductions: NCCL uses NVLS for whole
/// nodes of eight.
inline constexpr std::int64_t kMinNvlsRanks = 8;

/// Returns which switches of a cluster add. NVSwitches do from the third generation on, which came
/// with Hopper; network switches are never assumed to.
InNetworkReduction in_network_reduction(const Cluster& cluster);

}  // namespace stepwright::cluster
