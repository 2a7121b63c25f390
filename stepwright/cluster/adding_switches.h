#pragma once

#include <cstdint>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// The links of a cluster whose switches add and copy.
enum class AddingSwitches : std::uint8_t {
  kNone,
  kInsideNodes,   ///< Switches inside nodes (NVLink SHARP).
  kBetweenNodes,  ///< Switches of the network (SHARP); inside, ranks add.
  kEverywhere,
};

constexpr bool adds_inside(AddingSwitches where) {
  return where == AddingSwitches::kInsideNodes || where == AddingSwitches::kEverywhere;
}

/// Ranks of a node from which libraries let its switches add: NCCL takes NVLS for whole nodes of
/// eight.
inline constexpr std::int64_t kAddingRanks = 8;

/// The switches of a cluster that add. NVSwitches do from the third generation on, which came with
/// Hopper; those of networks are not known.
AddingSwitches adding_switches(const Cluster& cluster);

}  // namespace stepwright::cluster
