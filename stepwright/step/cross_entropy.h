#pragma once

#include <span>
#include <string_view>

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// Whether the loss is taken in chunks, or keeps something else than what is made of its logits.
bool in_chunks(const Setting& s);

/// Tokens of the chunk that is written, or all of this rank.
std::int64_t rows_of(const Emit& e);

/// Some numbers for each of them, in the type of statistics.
TensorId per_token(Emit& e, std::string_view name, std::int64_t numbers);

/// Entries of the vocabulary over which a rank takes the loss.
std::int64_t loss_width(const Setting& s);

/// A new tensor of so many logits for each token.
TensorId logits_tensor(Emit& e, std::string_view name, DType dtype, std::int64_t width);

/// A pass over the logits, in the type of statistics.
Operator loss_pass(const Emit& e, Phase phase, std::string_view name,
                   Purpose purpose = Purpose::kPlain);

/// One of the small all-reduces of numbers of each token over the ranks that share a vocabulary:
/// the tensor ranks, then the positions; in so many messages.
void share_loss(Emit& e, TensorId values, std::string_view name, bool largest = false,
                std::int64_t messages = 1);

/// Sums `values` over the tensor ranks, or takes their largest.
void share_over_tensor(Emit& e, TensorId values, std::string_view name, bool largest = false);
/// That of the positions alone; `values` stay what they are where `into` is another tensor.
void share_over_positions(Emit& e, TensorId values, TensorId into, std::string_view name,
                          bool largest = false);

/// The loss of the head's own logits [rows of `e`, vocabulary on this rank], which tensor ranks may
/// share. Keeps what the gradient of the logits needs. `beside`: tensors that stand until the loss
/// has been taken.
void cross_entropy(Emit& e, TensorId own, std::span<const TensorId> beside = {});

/// The gradient of those logits, in the type of storage.
TensorId cross_entropy_backward(Emit& e);

}  // namespace stepwright::step
