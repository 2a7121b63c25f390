#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// A router's output for the rows of this rank.
struct Choice {
  TensorId weights = -1;  ///< Weights of the top k, [rows, k], in the exact type.
  TensorId counts = -1;   ///< Number of rows sent to each expert, [1, experts].
};

/// Writes the router's gate: a softmax over all experts and the k largest probabilities. Keeps the
/// probabilities and the indices of the top k.
Choice route(Emit& e, TensorId normed);

/// Writes the gate's backward, from the gradient of the weights; returns the gradient of the normed
/// rows.
TensorId route_backward(Emit& e, TensorId d_weights);

}  // namespace stepwright::step
