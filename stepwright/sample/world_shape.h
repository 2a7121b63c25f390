#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::sample {

/// How the ranks of a world lie: consecutive ones on each node.
struct WorldShape {
  std::int64_t nodes = 1;
  std::int64_t ranks_of_node = 1;
};

/// Groups of `members` ranks on each of `nodes` nodes.
struct EvenGroup {
  std::int64_t nodes = 1;
  std::int64_t members = 1;
};

/// The group of a rank, one of equal ones that share the world: consecutive ranks of a node, or
/// equal places of consecutive nodes.
std::vector<std::int64_t> members_of(const WorldShape& world, const EvenGroup& shape,
                                     std::int64_t rank);

}  // namespace stepwright::sample
