#pragma once

#include <span>
#include <string_view>

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// True if the loss is computed chunk by chunk, or keeps something other than tensors made from its
/// logits.
bool in_chunks(const Setting& s);

/// Tokens of the loss chunk that is being written; without chunks all tokens of this rank.
std::int64_t rows_of(const Emit& e);

/// A new tensor of `numbers` statistics for each token of the chunk.
TensorId per_token(Emit& e, std::string_view name, std::int64_t numbers);

/// Vocabulary entries over which this rank computes the loss.
std::int64_t loss_width(const Setting& s);

/// A new tensor of `width` logits for each token of the chunk.
TensorId logits_tensor(Emit& e, std::string_view name, DType dtype, std::int64_t width);

/// An operator that passes once over the logits, in the type of statistics.
Operator loss_pass(const Emit& e, Phase phase, std::string_view name,
                   Purpose purpose = Purpose::kPlain);

/// Writes one small all-reduce of per-token numbers over the ranks that share the vocabulary: first
/// the tensor ranks, then the pipeline positions. `largest`: takes the maximum instead of the sum;
/// `messages`: the number of messages into which it is cut.
void share_loss(Emit& e, TensorId values, std::string_view name, bool largest = false,
                std::int64_t messages = 1);

/// Sums `values` over the tensor ranks, or takes their maximum if `largest`.
void share_over_tensor(Emit& e, TensorId values, std::string_view name, bool largest = false);
/// Sums `values` over the pipeline positions (or takes the maximum if `largest`) and writes the
/// result to `into`, which may be `values` itself.
void share_over_positions(Emit& e, TensorId values, TensorId into, std::string_view name,
                          bool largest = false);

/// Writes the loss of the logits [rows of `e`, vocabulary on this rank], whose vocabulary tensor
/// ranks may share. Keeps what the gradient of the logits needs. `beside`: tensors that stay in
/// memory until the loss has been computed.
void cross_entropy(Emit& e, TensorId own, std::span<const TensorId> beside = {});

/// Writes the gradient of the logits of `cross_entropy`, in the type of storage.
TensorId cross_entropy_backward(Emit& e);

}  // namespace stepwright::step
