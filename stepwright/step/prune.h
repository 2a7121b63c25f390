#pragma once

#include "stepwright/step/layer.h"

namespace stepwright::step {

/// Leaves out of a backward what leads to no gradient that anybody asks for: those of trained
/// weights and, where the gradient goes on, that of the block's input; and out of what the forward
/// saves whatever the backward does not read then. A backward of which nothing stays is empty.
/// `reruns`: the forward runs again whole, whatever of it is used.
void prune(BlockPair& pair, bool gradient_goes_on, bool reruns);

}  // namespace stepwright::step
