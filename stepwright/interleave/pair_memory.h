#pragma once

#include <vector>

#include "stepwright/interleave/interleaving.h"
#include "stepwright/interleave/layer_strands.h"

namespace stepwright::interleave {

/// Bytes that a pair takes at its largest moment beyond what is there before it: what the forward
/// gets and what the backward's own forward kept. A walk over all tensors of both templates in the
/// order of the blocks; operators of the next layer (with a prime) stand for the same ones of this
/// one. `imbalance` of experts.
double pair_extra_bytes(const LayerStrands& strands, const std::vector<Block>& blocks,
                        double imbalance);

/// One operator after the other, the backward first: the least that any order takes.
std::vector<Block> serial_blocks(const StrandPair& pair);

}  // namespace stepwright::interleave
