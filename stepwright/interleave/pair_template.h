#pragma once

#include <vector>

#include "stepwright/interleave/interleaving.h"

namespace stepwright::interleave {

/// Returns the seconds of an interleaved pair, simulated without other work as one template with
/// events instead of barriers: computations are on the compute stream and each collective on its
/// link's stream, in the order of the blocks. A block's collectives start when the computations of
/// earlier blocks have ended, and only operators that read their results wait for them. Inside a
/// block, the strand that sends computes last.
double event_seconds(const StrandPair& pair, const std::vector<Block>& blocks,
                     const cost::Contention& contention);

}  // namespace stepwright::interleave
