#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

// Operators of an adapter beside a frozen product: x A, times B, scaled, added to the product's
// result. Tensor ranks share neither messages nor rows more than the product does. Beside a product
// whose columns they share, each has all of A and its columns of B; beside one whose rows they
// share, its rows of A and all of B, and the results are parts of the sum that the product's are.
// Gradients of what each has whole are parts, summed with those of norms at the end of a step.
// Megatron-Bridge (src/megatron/bridge/peft/utils.py, ParallelLinearAdapter) cuts A of the former
// and B of the latter instead, and gathers their results, which are the same.

/// Whether a product has an adapter.
bool has_adapter(const Emit& e, const Product& p);

/// Whether a backward asks for the input of a product: for its own weight gradient, or for A's
/// where that takes it in as it is.
bool needs_input(const Emit& e, const Product& p);

/// Adds the adapter's result to the product's, in its place. Keeps the result of A, and under
/// dropout its input and the mask.
void add_adapter(Emit& e, TensorId x, TensorId y, const Product& p);

/// Gradients inside an adapter; -1 without one.
struct AdapterGradients {
  TensorId wide = -1;    ///< Gradient of the adapter's result, scaled.
  TensorId narrow = -1;  ///< Gradient of A's result.
  TensorId input = -1;   ///< Gradient of the adapter's input.
};
AdapterGradients adapter_data_gradient(Emit& e, TensorId dy, const Product& p);
/// Gradients of B and A; `x` is the product's input.
void adapter_weight_gradient(Emit& e, const AdapterGradients& gradients, TensorId x,
                             const Product& p);

/// dx with the adapter's part of it added in its place, if there is one.
TensorId add_to(Emit& e, TensorId dx, TensorId adapter, const Product& p);

}  // namespace stepwright::step
