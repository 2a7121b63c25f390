#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::sample {

/// How the ranks of a job are placed: consecutive ranks share a node.
struct WorldShape {
  std::int64_t nodes = 1;
  std::int64_t ranks_of_node = 1;
};

/// The shape of a group: `members` ranks on each of `nodes` nodes.
struct EvenGroup {
  std::int64_t nodes = 1;
  std::int64_t members = 1;
};

/// Returns the ranks of the group that contains `rank`, when equal groups of this shape partition
/// all ranks: consecutive ranks of each node, and the same positions on consecutive nodes.
std::vector<std::int64_t> members_of(const WorldShape& world, const EvenGroup& shape,
                                     std::int64_t rank);

}  // namespace stepwright::sample
