#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace stepwright::runtime {

/// The tokens of one micro-batch on a context rank, row by row; tensors are [tokens] where nothing
/// else is said.
struct MicroBatch {
  at::Tensor tokens;
  at::Tensor targets;
  /// For each multi-token layer, [depth][tokens]: the tokens that it embeds (`embedded_ahead`) and
  /// the tokens that it predicts (`targets_ahead`); -1 beyond the sample, where there is nothing to
  /// predict.
  std::vector<at::Tensor> embedded_ahead;
  std::vector<at::Tensor> targets_ahead;
  at::Tensor positions;
  at::Tensor places;  ///< Index of each token in the global batch: sequence * length + position.
  /// Number of the document of every token of its sequences, including other context ranks' tokens:
  /// [sequences, length]. Undefined: each sequence is one document. If defined, a target below 0
  /// means that a token predicts none, and `positions` count within documents.
  at::Tensor documents = {};
  /// Number of tokens of the step that predict a token, over all ranks.
  std::int64_t step_targets = 0;
};

}  // namespace stepwright::runtime
