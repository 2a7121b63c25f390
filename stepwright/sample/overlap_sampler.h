#pragma once

#include <ostream>

#include "stepwright/runtime/messages/groups.h"
#include "stepwright/sample/world_shape.h"

namespace stepwright {

/// Times products alone and beside all-reduces inside the node and across nodes, on all ranks at
/// the same time; rank 0 writes rows (`kOverlapSampleHeader`), means over the ranks.
void sample_overlap(const Groups::World& world, const WorldShape& shape, std::ostream& out);

}  // namespace stepwright
