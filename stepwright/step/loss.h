#pragma once

#include <span>
#include <vector>

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// Parts of a micro-batch's tokens, one after the other, of which the head's product and the loss
/// are taken. Where kernels say 0, as many as make the logits of one no larger than the rows of all
/// (linkedin/Liger-Kernel src/liger_kernel/ops/fused_linear_cross_entropy.py): with the vocabulary
/// V on this rank and h columns, chunks of tokens / ceil(V / h), up to the next power of two.
std::int64_t loss_chunks(const Setting& s);

/// The head's product and its loss, from normed rows. What all tokens have is kept in `e.kept`;
/// returns what each chunk keeps, nothing of a loss that is taken whole.
std::vector<Kept> head_loss(Emit& e, TensorId rows);

/// Their backward: the gradient of the normed rows, and that of the head's weight.
TensorId head_loss_backward(Emit& e, std::span<const Kept> chunks);

/// The head's weight gradient alone, where the gradient of the rows came with the logits of a part
/// of the vocabulary (`step/vocabulary_part.h`).
void part_weight_gradient(Emit& e);

}  // namespace stepwright::step
