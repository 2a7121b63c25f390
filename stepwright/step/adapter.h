#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

// Operators of an adapter beside a frozen product: the input times A, times B, scaled, added to the
// product's result. Tensor ranks share an adapter's messages and rows exactly as they share the
// product's. Where the product is split by columns, each rank holds all of A and its own columns of
// B. Where the product is split by rows, each rank holds its own rows of A and all of B, and the
// adapter's result is a partial sum like the product's. A matrix that every rank holds whole gets a
// partial gradient on each rank; those partial gradients are summed with the gradients of norm
// weights at the end of a step. Megatron-Bridge (src/megatron/bridge/peft/utils.py,
// ParallelLinearAdapter) instead splits A in the first case and B in the second, and gathers their
// results; the volumes are equal.

/// True if a product has an adapter.
bool has_adapter(const Emit& e, const Product& p);

/// True if the backward needs a product's input: for the product's own weight gradient, or for the
/// gradient of A where A multiplies that same input.
bool needs_input(const Emit& e, const Product& p);

/// Adds the result of an adapter to `y`, the result of its product, in place. Keeps the result of A
/// for the backward and, under dropout, the adapter's input and mask.
void add_adapter(Emit& e, TensorId x, TensorId y, const Product& p);

/// Gradients inside an adapter; every tensor is -1 if the product has no adapter.
struct AdapterGradients {
  TensorId wide = -1;    ///< Gradient of the adapter's result, times the adapter's scale.
  TensorId narrow = -1;  ///< Gradient of A's result.
  TensorId input = -1;   ///< Gradient of the adapter's input.
};
AdapterGradients adapter_data_gradient(Emit& e, TensorId dy, const Product& p);
/// Adds the weight gradients of an adapter's B and A; `x` is the product's input.
void adapter_weight_gradient(Emit& e, const AdapterGradients& gradients, TensorId x,
                             const Product& p);

/// Adds `adapter`, the gradient of an adapter's input (-1: no adapter), to `dx` in place; returns
/// `dx`.
TensorId add_to(Emit& e, TensorId dx, TensorId adapter, const Product& p);

}  // namespace stepwright::step
