#pragma once

#include <ostream>

#include "stepwright/runtime/messages/groups.h"
#include "stepwright/sample/world_shape.h"

namespace stepwright::sample {

/// Times computations and messages alone and side by side, on all ranks at the same time: products
/// and sums of vectors, all-reduces, all-gathers and reduce-scatters of three sizes, inside the
/// node and across nodes. The computation is the longer one. Rank 0 writes rows
/// (`kOverlapSampleHeader`), means over the ranks.
void sample_overlap(const runtime::Groups::World& world, const WorldShape& shape,
                    std::ostream& out);

}  // namespace stepwright::sample
