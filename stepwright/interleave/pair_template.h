#pragma once

#include <vector>

#include "stepwright/interleave/interleaving.h"

namespace stepwright::interleave {

/// The blocks of an interleaved pair as one template, its computations on the compute stream and
/// each collective on the stream of its link, in the order of the blocks, played alone with events
/// in place of barriers: a block's collectives start when the computations of those before have
/// ended, and only what reads their result waits for them. Inside a block the strand that sends
/// computes last. Seconds.
double event_seconds(const StrandPair& pair, const std::vector<Block>& blocks,
                     const cost::Contention& contention);

}  // namespace stepwright::interleave
