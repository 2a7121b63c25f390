#pragma once

#include <ostream>

#include "stepwright/runtime/messages/groups.h"
#include "stepwright/sample/world_shape.h"

namespace stepwright::sample {

/// Times computations and messages, alone and concurrently, on all ranks at the same time: matrix
/// products and vector sums, with all-reduces, all-gathers and reduce-scatters of three sizes,
/// inside the node and across nodes. The computation takes longer than the message. Rank 0 writes
/// rows (`kOverlapSampleHeader`) with means over the ranks.
void sample_overlap(const runtime::Groups::World& world, const WorldShape& shape,
                    std::ostream& out);

}  // namespace stepwright::sample
