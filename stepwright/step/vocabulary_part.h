#pragma once

#include "stepwright/step/block_build_context.h"

namespace stepwright::step {

/// Appends the loss over one pipeline stage's part of the vocabulary, for schedules in which stages
/// do not wait for each other (arXiv 2411.05288). A stage scales its logits [tokens, part] by their
/// own maximum m', so that only messages run between its passes. The messages find, over
/// all parts, the maximum m, the sum z of exponentials and the logit of each target; with softmax'
/// over the part's own sum z',
///
///     softmax = softmax' z' exp(m' - m) / z.
///
/// With two barriers (algorithm 1) the gradient of the rows is computed from this softmax and then
/// summed. With one barrier (algorithm 2) each stage first multiplies softmax' and the targets
/// by its part of the table; the products are rescaled to m and z and summed after the messages of
/// the loss.
void append_vocabulary_shard_loss(ModelBlockBuildContext& e, TensorId logits,
                                  const MatrixProduct& product);

/// Appends the gradient of the logits of this pipeline stage's part of the vocabulary, in the type
/// of activations, and returns it.
TensorId append_vocabulary_shard_gradient(ModelBlockBuildContext& e);

}  // namespace stepwright::step
