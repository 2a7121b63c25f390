#pragma once

#include <ostream>

#include "stepwright/runtime/messages/groups.h"
#include "stepwright/sample/world_shape.h"

namespace stepwright::sample {

/// Times how much computations and messages slow each other down: matrix products and vector sums,
/// with collectives of three sizes, inside a node and between nodes, each alone and both at once.
/// Rank 0 writes a table of means over the ranks.
void measure_overlap_slowdown(const runtime::RankCommunicators::RankWorld& world,
                              const WorldShape& shape, std::ostream& out);

}  // namespace stepwright::sample
