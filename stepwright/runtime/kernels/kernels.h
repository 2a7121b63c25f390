#pragma once

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

/// The functions of operators, one file for each kind (`find_kernel` has the table). The operands
/// and results of `call` are those that the builders in `step/` gave the operator, in their order.
/// Forward functions also run in recomputation.
void embedding_forward(Call& call);
void embedding_weight_gradient(Call& call);
void norm_forward(Call& call);
void norm_backward_kernel(Call& call);
void linear_forward(Call& call);
void linear_data_gradient_kernel(Call& call);
void linear_weight_gradient_kernel(Call& call);
void adapter_scale(Call& call);
void adapter_add(Call& call);
void adapter_dropout(Call& call);
void adapter_dropout_backward(Call& call);
void rotary_forward(Call& call);
void rotary_backward(Call& call);
void attention_forward(Call& call);
void attention_backward(Call& call);
void choose_keys(Call& call);
void choose_keys_backward(Call& call);
void activation_forward(Call& call);
void activation_backward(Call& call);
void add_forward(Call& call);
void add_backward(Call& call);
void dropout_forward(Call& call);
void dropout_backward(Call& call);
void accumulate_forward(Call& call);
void accumulate_weight_gradient(Call& call);
void grouped_linear_forward(Call& call);
void grouped_linear_data_gradient(Call& call);
void grouped_linear_weight_gradient(Call& call);
void top_k_forward(Call& call);
void top_k_backward(Call& call);
void permute_rows(Call& call);
void unpermute_rows(Call& call);
void head_sums(Call& call);
void head_norm_forward(Call& call);
void head_norm_backward(Call& call);
void attention_gate_forward(Call& call);
void attention_gate_backward(Call& call);
void shared_gate_forward(Call& call);
void shared_gate_backward(Call& call);
void convolution_forward(Call& call);
void convolution_backward(Call& call);
void scan_forward(Call& call);
void scan_backward(Call& call);
void mixer_gate_forward(Call& call);
void mixer_gate_backward(Call& call);
void loss_forward(Call& call);
void loss_backward(Call& call);
/// Kernels for a part of the vocabulary: `target_rows` reads the rows of the head's table for the
/// targets in the part; `part_row_gradient` computes the gradient of the head's input, scaled to
/// all parts (`step/vocabulary_part.h`).
void target_rows(Call& call);
void part_row_gradient(Call& call);
/// Kernels of a loss that computes its logits for one block of rows at a time, and never stores
/// all.
void on_chip_loss(Call& call);
void on_chip_again(Call& call);
void on_chip_data_gradient(Call& call);
void on_chip_weight_gradient(Call& call);
void norm_square(Call& call);
void optimizer_update(Call& call);
void orthogonal_update(Call& call);
void host_update(Call& call);
void host_copy(Call& call);

/// Applies an adapter's second matrix B, to each part of a fused product that has one; `rows`: the
/// output of A. `adapter_up_data_gradient` returns the gradient of `rows`.
at::Tensor adapter_up(const Call& call, const at::Tensor& rows, const at::Tensor& weight);
at::Tensor adapter_up_data_gradient(const Call& call, const at::Tensor& dy,
                                    const at::Tensor& weight);
/// The gradient of a product's result, and the output of A, for the same rows.
struct AdapterRows {
  at::Tensor gradient;
  at::Tensor narrow;
};
/// Adds B's gradient times `share` to `gradient`.
void adapter_up_weight_gradient(const Call& call, const AdapterRows& rows,
                                const at::Tensor& gradient, double share);
/// Returns the number of columns of A's output.
std::int64_t adapter_width(const Call& call);

/// A function that runs an operator.
using Kernel = void (*)(Call& call);

/// Returns the kernel of an operator; null when there is none.
Kernel find_kernel(const step::Operator& op);

/// True if the operator's layer rotates queries and keys by their positions.
bool rotates(const Call& call);
/// Rotates the first dimensions of [rows, heads, dimensions] in place, by the positions of the
/// call's rows; `sign` -1: in reverse.
void turn(const Call& call, const at::Tensor& heads, double sign);

}  // namespace stepwright::runtime
