#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::sample {

/// How ranks are placed on nodes: equally many on each, consecutive ranks on one node.
struct WorldShape {
  std::int64_t nodes = 1;
  std::int64_t ranks_of_node = 1;
};

/// The shape of a group of ranks: `members` ranks on each of `nodes` nodes.
struct EvenRankGroupShape {
  std::int64_t nodes = 1;
  std::int64_t members = 1;
};

/// Returns the ranks of the group that contains `rank`, if groups of this shape partition all
/// ranks. Groups consist of consecutive ranks of a node or, over several consecutive nodes, of
/// ranks at equal positions in each.
std::vector<std::int64_t> ranks_of_group_containing_rank(const WorldShape& world,
                                                         const EvenRankGroupShape& shape,
                                                         std::int64_t rank);

}  // namespace stepwright::sample
