#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// The decision of a router on the rows of a rank.
struct Choice {
  TensorId weights = -1;  ///< Weights of the top k, [rows, k], in the exact type.
  TensorId counts = -1;   ///< Copies for each expert, [1, experts].
};

/// The gate: a softmax over all experts and the largest k of it. Keeps the probabilities and the
/// indices of the top k.
Choice route(Emit& e, TensorId normed);

/// Gradient of the normed rows through the gate, from that of the weights.
TensorId route_backward(Emit& e, TensorId d_weights);

}  // namespace stepwright::step
