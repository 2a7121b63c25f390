#include "stepwright/sample/world_shape.h"

namespace stepwright::sample {

std::vector<std::int64_t> ranks_of_group_containing_rank(const WorldShape& world,
                                                         const EvenRankGroupShape& shape,
                                                         std::int64_t rank) {
  const std::int64_t groups = world.ranks_of_node / shape.members;
  const std::int64_t node = rank / world.ranks_of_node;
  const std::int64_t place = rank % world.ranks_of_node;
  std::vector<std::int64_t> members;
  for (std::int64_t n = 0; n < shape.nodes; ++n) {
    const std::int64_t first = (node / shape.nodes * shape.nodes + n) * world.ranks_of_node;
    for (std::int64_t m = 0; m < shape.members; ++m) {
      const std::int64_t other = shape.nodes == 1 ? place / shape.members * shape.members + m
                                                  : m * groups + place % groups;
      members.push_back(first + other);
    }
  }
  return members;
}

}  // namespace stepwright::sample
