#pragma once

#include <vector>

#include "stepwright/interleave/interleaving.h"
#include "stepwright/interleave/layer_strands.h"

namespace stepwright::interleave {

/// Returns the peak bytes that an interleaved forward and backward of a layer allocate beyond what
/// exists before (the forward's input, and the tensors kept for the backward), when operators run
/// in the order of `blocks`. Operators of the next layer (ids with a prime) count as those of this
/// layer. `imbalance`: load of the busiest expert rank over the mean.
double interleaved_pair_peak_bytes(const LayerOperatorLists& strands,
                                   const std::vector<InterleavedBlock>& blocks, double imbalance);

/// Returns one block for each operator, all of the backward before the forward: the order that
/// needs the least memory.
std::vector<InterleavedBlock> blocks_without_interleaving(const ForwardBackwardOperators& pair);

}  // namespace stepwright::interleave
