#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace stepwright::runtime {

/// The tokens of one micro-batch on a context rank, row by row: [tokens].
struct MicroBatch {
  at::Tensor tokens;
  at::Tensor targets;
  /// By multi-token layer, [depth][tokens]: the tokens that it embeds, and those that it predicts;
  /// -1 beyond the sample, where there is nothing to predict.
  std::vector<at::Tensor> embedded_ahead;
  std::vector<at::Tensor> targets_ahead;
  at::Tensor positions;
  at::Tensor places;  ///< Place of each token in the global batch: sequence * length + position.
  /// Numbers of the documents at all places of its sequences, whatever the context rank:
  /// [sequences, length]; undefined: each sequence is one. Then targets below 0 are none, and
  /// positions those in documents.
  at::Tensor documents = {};
  std::int64_t step_targets = 0;  ///< Tokens that predict one in the step, over all ranks.
};

}  // namespace stepwright::runtime
