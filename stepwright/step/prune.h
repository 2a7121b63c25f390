#pragma once

#include "stepwright/step/layer.h"

namespace stepwright::step {

/// Removes from a block's backward all operators that contribute to no needed gradient: gradients
/// of trained weights are needed, and the gradient of the block's input if `gradient_goes_on`. Then
/// removes from the forward's saved tensors those that the backward no longer reads. A backward
/// without needed gradients becomes empty. `reruns`: true if the backward runs the whole forward
/// again, even operators whose results it does not read.
void remove_operators_of_unneeded_gradients(ModelBlockTemplatePair& pair, bool gradient_goes_on,
                                            bool reruns);

}  // namespace stepwright::step
