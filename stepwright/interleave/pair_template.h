#pragma once

#include <vector>

#include "stepwright/interleave/interleaving.h"

namespace stepwright::interleave {

/// Returns the seconds, by simulation, of an interleaved forward and backward of a layer whose
/// operators wait for events instead of barriers: computations run on the compute stream and
/// collectives on their link's stream, in the order of the blocks. A block's collectives start when
/// earlier blocks have computed, and only operators that read their results wait for them. Inside a
/// block, the direction that sends computes last.
double simulated_pair_seconds(const ForwardBackwardOperators& pair,
                              const std::vector<InterleavedBlock>& blocks,
                              const cost::OverlapSlowdownFactors& contention);

}  // namespace stepwright::interleave
