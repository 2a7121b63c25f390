#pragma once

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

/// Kernels of operators, one source file for each kind of operator; `find_kernel` returns the
/// kernel of an operator. `call` holds operands and results in the order that the builders in
/// `step/` define. Forward kernels also run in recomputation.
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
/// Kernels for a vocabulary divided over pipeline positions: `read_target_table_rows` reads the
/// output-table rows of the targets in this part; `part_row_gradient` computes the part's
/// contribution to the gradient of the head's input (`step/vocabulary_part.h`).
void read_target_table_rows(Call& call);
void part_row_gradient(Call& call);
/// Kernels of a fused loss, which computes logits for one block of rows at a time and never stores
/// all of them.
void blockwise_fused_loss(Call& call);
void on_chip_again(Call& call);
void on_chip_data_gradient(Call& call);
void on_chip_weight_gradient(Call& call);
void norm_square(Call& call);
void optimizer_update(Call& call);
void orthogonal_update(Call& call);
void host_update(Call& call);
void host_copy(Call& call);

/// Multiplies by an adapter's second matrix (LoRA's B), for each part of a fused product that has
/// an adapter. `rows`: output of LoRA's A. `adapter_up_data_gradient` returns the gradient of
/// `rows`.
at::Tensor adapter_up_product(const Call& call, const at::Tensor& rows, const at::Tensor& weight);
at::Tensor adapter_up_data_gradient(const Call& call, const at::Tensor& dy,
                                    const at::Tensor& weight);
/// Inputs of the gradient of LoRA's B: the gradient of the adapted product's result and the output
/// of LoRA's A, for the same rows.
struct AdapterGradientInputs {
  at::Tensor gradient;
  at::Tensor narrow;
};
/// Adds the gradient of LoRA's B, multiplied by `share`, to the tensor `gradient`.
void adapter_up_weight_gradient(const Call& call, const AdapterGradientInputs& rows,
                                const at::Tensor& gradient, double share);
/// Returns the number of columns of the output of LoRA's A.
std::int64_t adapter_down_output_columns(const Call& call);

/// Function that runs one operator.
using Kernel = void (*)(Call& call);

/// Returns the function that runs an operator; null if there is none.
Kernel find_kernel(const step::Operator& op);

/// True if the operator's layer applies rotary position embeddings to queries and keys.
bool has_rotary_embedding(const Call& call);
/// Applies rotary position embeddings in place to the first dimensions of `heads` [rows, heads,
/// dimensions], by the positions of the call's rows. `sign`: 1, or -1 to undo the rotation.
void apply_rotary_embedding(const Call& call, const at::Tensor& heads, double sign);

}  // namespace stepwright::runtime
