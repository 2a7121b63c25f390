#pragma once

#include "stepwright/step/block_build_context.h"

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

/// True if a matrix product of a layer has a LoRA adapter beside it.
bool matrix_product_has_lora_adapter(const ModelBlockBuildContext& e, const MatrixProduct& p);

/// True if the backward needs the input of a matrix product: for the gradient of the product's own
/// weight, or of its LoRA adapter's matrix A where A multiplies the same input.
bool backward_needs_input(const ModelBlockBuildContext& e, const MatrixProduct& p);

/// Appends the operators of a product's LoRA adapter and adds the adapter's result to `y`, the
/// result of the product, in place. `x`: the product's input. Keeps the result of A for the
/// backward and, under dropout, the adapter's input and mask.
void append_lora_adapter(ModelBlockBuildContext& e, TensorId x, TensorId y, const MatrixProduct& p);

/// Gradient tensors inside a LoRA adapter, which adds scale * B A x to a product's result; all are
/// -1 if the product has no adapter.
struct LoraGradientTensors {
  /// Gradient of B A x, the result of the LoRA adapter, times the adapter's scale.
  TensorId wide = -1;
  TensorId narrow = -1;  ///< Gradient of A x, the result of the LoRA adapter's first matrix.
  TensorId input = -1;   ///< Gradient of x, the input of a LoRA adapter.
};
LoraGradientTensors adapter_data_gradient(ModelBlockBuildContext& e, TensorId dy,
                                          const MatrixProduct& p);
/// Appends the weight gradients of a LoRA adapter's matrices B and A; `x` is the input of the
/// product that has the adapter.
void append_lora_weight_gradients(ModelBlockBuildContext& e, const LoraGradientTensors& gradients,
                                  TensorId x, const MatrixProduct& p);

/// Adds `adapter`, the gradient of a LoRA adapter's input (-1: no adapter), to `dx`, the gradient
/// of the input of the adapter's product, in place; returns `dx`.
TensorId add_lora_input_gradient(ModelBlockBuildContext& e, TensorId dx, TensorId adapter,
                                 const MatrixProduct& p);

}  // namespace stepwright::step
