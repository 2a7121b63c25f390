#pragma once

#include "stepwright/step/block_build_context.h"

namespace stepwright::step {

/// Result of a router of experts for the rows of this rank: gate weights, and row counts of
/// experts.
struct RouterResult {
  /// Gate weights of the k chosen experts of each row, [rows, k], in fp32 or fp64.
  TensorId weights = -1;
  TensorId counts = -1;  ///< Number of this rank's rows sent to each expert, [1, experts].
};

/// Appends the router of a mixture of experts: a softmax over all experts and the k largest
/// probabilities of each row. Keeps the probabilities and the indices of the top k.
RouterResult append_router(ModelBlockBuildContext& e, TensorId normed);

/// Appends the router's backward, from the gradient of the gate weights; returns the gradient of
/// the router's input rows.
TensorId append_router_backward(ModelBlockBuildContext& e, TensorId d_weights);

}  // namespace stepwright::step
