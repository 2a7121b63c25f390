#pragma once

#include <vector>

#include "stepwright/interleave/interleaving.h"
#include "stepwright/interleave/layer_strands.h"

namespace stepwright::interleave {

/// Returns the peak bytes of a pair in addition to the bytes before it (the forward's input, and
/// the tensors kept by the backward's own forward). Walks over all tensors of both templates in the
/// order of the blocks; operators of the next layer (with a prime) count as the same ones of this
/// layer. `imbalance`: load of the busiest expert rank over the mean.
double pair_extra_bytes(const LayerStrands& strands, const std::vector<Block>& blocks,
                        double imbalance);

/// Returns blocks of one operator each, the backward first: the order with the least memory.
std::vector<Block> serial_blocks(const StrandPair& pair);

}  // namespace stepwright::interleave
