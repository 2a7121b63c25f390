#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace stepwright::runtime {

/// Tokens of one micro-batch on a context-parallel rank, sequence after sequence. Tensors have the
/// shape [tokens] unless stated.
struct MicroBatch {
  at::Tensor tokens;
  at::Tensor targets;
  /// Tokens that multi-token prediction layers embed, as [depth][tokens].
  std::vector<at::Tensor> embedded_ahead;
  /// Tokens that multi-token prediction layers must predict, as [depth][tokens]; -1: none.
  std::vector<at::Tensor> targets_ahead;
  at::Tensor positions;
  /// Index of each token in the global batch: sequence index * sequence length + position.
  at::Tensor places;
  /// Document number of every token of the micro-batch's sequences, also of tokens on other
  /// context-parallel ranks: [sequences, length]. Undefined: each sequence is one document.
  /// Defined: `positions` count within documents, and a target below 0 means that no token is
  /// predicted.
  at::Tensor documents = {};
  /// Number of tokens in the whole step, over all ranks, that have a next token to predict.
  std::int64_t step_targets = 0;
};

}  // namespace stepwright::runtime
