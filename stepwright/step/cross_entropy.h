#pragma once

#include <span>
#include <string_view>

#include "stepwright/step/block_build_context.h"

namespace stepwright::step {

/// True if the loss is computed for one chunk of tokens after the other, or keeps something other
/// than its logits (such as their gradients) until the backward.
bool computes_loss_in_chunks(const StepBuildSettings& s);

/// Returns the number of tokens in the loss chunk that is being built; without chunks, all tokens
/// of this rank.
std::int64_t loss_chunk_tokens(const ModelBlockBuildContext& e);

/// Creates a tensor of `numbers` loss statistics (such as the largest logit) for each token of the
/// loss chunk that is being built.
TensorId create_loss_statistics_tensor(ModelBlockBuildContext& e, std::string_view name,
                                       std::int64_t numbers);

/// Returns the number of vocabulary entries over which this rank computes the loss: all entries if
/// logits are gathered over the tensor ranks, else its own part.
std::int64_t loss_vocabulary_width(const StepBuildSettings& s);

/// Creates a tensor of logits, [tokens of the loss chunk that is being built, width].
TensorId logits_tensor(ModelBlockBuildContext& e, std::string_view name, DType dtype,
                       std::int64_t width);

/// Returns an operator that reads, once, all logits of the loss chunk that is being built, in the
/// type of statistics (fp32 or fp64).
Operator operator_passing_over_logits(const ModelBlockBuildContext& e, Phase phase,
                                      std::string_view name,
                                      OperatorPurpose purpose = OperatorPurpose::kPlain);

/// Appends a small all-reduce of per-token loss statistics over the ranks that share the
/// vocabulary: first the tensor ranks, then the pipeline stages. `largest`: takes the maximum
/// instead of the sum; `messages`: the number of messages into which it is cut.
void all_reduce_loss_statistics(ModelBlockBuildContext& e, TensorId values, std::string_view name,
                                bool largest = false, std::int64_t messages = 1);

/// Appends an all-reduce of `values` over the tensor ranks: their sum, or their maximum if
/// `largest`.
void all_reduce_over_tensor_ranks(ModelBlockBuildContext& e, TensorId values, std::string_view name,
                                  bool largest = false);
/// Appends an all-reduce of `values` over the pipeline stages: their sum, or their maximum if
/// `largest`. The result is written to `into`, which may be `values` itself.
void all_reduce_over_positions(ModelBlockBuildContext& e, TensorId values, TensorId into,
                               std::string_view name, bool largest = false);

/// Appends the cross entropy of the logits `own` [tokens of the loss chunk, vocabulary on this
/// rank]; tensor ranks may share the vocabulary. Keeps what the gradient of the logits needs.
/// `beside`: tensors that stay in memory until the loss has been computed.
void append_cross_entropy(ModelBlockBuildContext& e, TensorId own,
                          std::span<const TensorId> beside = {});

/// Appends the gradient of the cross entropy's logits, in the type of activations, and returns it.
TensorId append_cross_entropy_backward(ModelBlockBuildContext& e);

}  // namespace stepwright::step
