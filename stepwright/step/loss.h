#pragma once

#include <span>
#include <vector>

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// Number of consecutive chunks of a micro-batch's tokens for which the head's product and the loss
/// are computed one after the other. If the kernel choice says 0, as many chunks as make the logits
/// of one chunk no larger than the rows of all tokens (linkedin/Liger-Kernel
/// src/liger_kernel/ops/fused_linear_cross_entropy.py): with the vocabulary V on this rank and h
/// columns, chunks of tokens / ceil(V / h), rounded up to a power of two.
std::int64_t loss_chunks(const Setting& s);

/// Writes the head's product and its loss, from normed rows. Tensors of all tokens are kept in
/// `e.kept`; returns the tensors that each chunk keeps (empty if the loss is computed in one
/// piece).
std::vector<Kept> head_loss(Emit& e, TensorId rows);

/// Writes the backward of `head_loss`: returns the gradient of the normed rows, and adds the
/// gradient of the head's weight.
TensorId head_loss_backward(Emit& e, std::span<const Kept> chunks);

/// Writes only the head's weight gradient, if the gradient of the rows was already computed with
/// the logits of a part of the vocabulary (`step/vocabulary_part.h`).
void part_weight_gradient(Emit& e);

}  // namespace stepwright::step
