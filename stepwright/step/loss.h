#pragma once

#include <span>
#include <vector>

#include "stepwright/step/block_build_context.h"

namespace stepwright::step {

/// Returns the number of consecutive chunks of a micro-batch's tokens for which the head's product
/// and the loss are computed one after the other. If the kernel choice says 0, as many chunks as
/// make the logits of one chunk no larger than the rows of all tokens (linkedin/Liger-Kernel
/// src/liger_kernel/ops/fused_linear_cross_entropy.py): with the vocabulary V on this rank and h
/// columns, chunks of tokens / ceil(V / h), rounded up to a power of two.
std::int64_t loss_token_chunk_count(const StepBuildSettings& s);

/// Appends the head's matrix product and its loss, from normed rows [tokens, hidden]. Returns the
/// tensors that each chunk of the loss keeps for the backward (empty if the loss is computed in one
/// piece); tensors of all tokens are kept in `e.kept`.
std::vector<KeptTensors> append_head_and_loss(ModelBlockBuildContext& e, TensorId rows);

/// Appends the backward of the head's product and its loss: adds the gradient of the head's weight,
/// and returns the gradient of the normed rows. `chunks`: what each chunk of the loss kept.
TensorId append_head_and_loss_backward(ModelBlockBuildContext& e,
                                       std::span<const KeptTensors> chunks);

/// Appends only the head's weight gradient, for a vocabulary split over pipeline stages whose loss
/// has already computed the gradient of the rows (`step/vocabulary_part.h`).
void append_head_weight_gradient(ModelBlockBuildContext& e);

}  // namespace stepwright::step
