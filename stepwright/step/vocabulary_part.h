#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// The loss of a part of the vocabulary whose positions do not meet for it (2411.05288): a position
/// measures its logits [tokens, part] by their own maximum m', so that nothing stands between its
/// passes but messages. Of all parts those find the maximum m, the sums z of exponentials and the
/// logit of each target; with softmax' of the own sum z',
///
///     softmax = softmax' z' exp(m' - m) / z.
///
/// With two barriers (algorithm 1) the gradient of the rows follows from that and is summed. With
/// one (algorithm 2) each position multiplies softmax' and the targets by its part of the table
/// beforehand; the products are put in the measure of all and summed behind the messages of the
/// loss.
void part_loss(Emit& e, TensorId logits, const Product& product);

/// The gradient of the part's logits, in the type of storage.
TensorId part_logit_gradient(Emit& e);

}  // namespace stepwright::step
