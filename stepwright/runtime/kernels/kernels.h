#pragma once

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

/// Kernel: a function that runs one kind of operator on tensors; `find_kernel` returns it for an
/// operator. `call` holds operands and results in the order that the builders in `step/` define.
/// Forward kernels also run in recomputation.
void embedding_forward(KernelCall& call);
void embedding_weight_gradient(KernelCall& call);
void norm_forward(KernelCall& call);
void norm_backward_kernel(KernelCall& call);
void linear_forward(KernelCall& call);
void linear_data_gradient_kernel(KernelCall& call);
void linear_weight_gradient_kernel(KernelCall& call);
void adapter_scale(KernelCall& call);
void adapter_add(KernelCall& call);
void adapter_dropout(KernelCall& call);
void adapter_dropout_backward(KernelCall& call);
void rotary_forward(KernelCall& call);
void rotary_backward(KernelCall& call);
void attention_forward(KernelCall& call);
void attention_backward(KernelCall& call);
void choose_keys(KernelCall& call);
void choose_keys_backward(KernelCall& call);
void activation_forward(KernelCall& call);
void activation_backward(KernelCall& call);
void add_forward(KernelCall& call);
void add_backward(KernelCall& call);
void dropout_forward(KernelCall& call);
void dropout_backward(KernelCall& call);
void accumulate_forward(KernelCall& call);
void accumulate_weight_gradient(KernelCall& call);
void grouped_linear_forward(KernelCall& call);
void grouped_linear_data_gradient(KernelCall& call);
void grouped_linear_weight_gradient(KernelCall& call);
void top_k_forward(KernelCall& call);
void top_k_backward(KernelCall& call);
void permute_rows(KernelCall& call);
void unpermute_rows(KernelCall& call);
void head_sums(KernelCall& call);
void head_norm_forward(KernelCall& call);
void head_norm_backward(KernelCall& call);
void attention_gate_forward(KernelCall& call);
void attention_gate_backward(KernelCall& call);
void shared_gate_forward(KernelCall& call);
void shared_gate_backward(KernelCall& call);
void convolution_forward(KernelCall& call);
void convolution_backward(KernelCall& call);
void scan_forward(KernelCall& call);
void scan_backward(KernelCall& call);
void mixer_gate_forward(KernelCall& call);
void mixer_gate_backward(KernelCall& call);
void loss_forward(KernelCall& call);
void loss_backward(KernelCall& call);
/// Selects the rows of the output table (the head's weights) that belong to the target tokens in
/// this pipeline rank's part of the vocabulary.
void read_target_rows_of_output_table(KernelCall& call);
/// Computes the contribution of this pipeline rank's part of the vocabulary to the gradient of the
/// head's input (`step/vocabulary_part.h`).
void part_row_gradient(KernelCall& call);
/// Kernel of a loss that is fused with the head: it computes logits for one block of rows at a time
/// and never stores all of them.
void blockwise_fused_loss(KernelCall& call);
void on_chip_again(KernelCall& call);
void on_chip_data_gradient(KernelCall& call);
void on_chip_weight_gradient(KernelCall& call);
void norm_square(KernelCall& call);
void optimizer_update(KernelCall& call);
void orthogonal_update(KernelCall& call);
void host_update(KernelCall& call);
void host_copy(KernelCall& call);

/// Multiplies `rows`, the output of LoRA's A, by the adapter's second matrix (B), for each part of
/// a fused product that has an adapter.
at::Tensor lora_b_product(const KernelCall& call, const at::Tensor& rows, const at::Tensor& weight);
/// Returns the gradient of the output of LoRA's A, the `rows` that `lora_b_product` multiplies by
/// LoRA's B.
at::Tensor adapter_up_data_gradient(const KernelCall& call, const at::Tensor& dy,
                                    const at::Tensor& weight);
/// Inputs of the gradient of LoRA's B: the gradient of the adapted product's result and the output
/// of LoRA's A, for the same rows.
struct LoraGradientInputs {
  at::Tensor gradient;
  at::Tensor narrow;
};
/// Adds the gradient of LoRA's B, multiplied by `share`, to the tensor `gradient`.
void add_lora_b_weight_gradient(const KernelCall& call, const LoraGradientInputs& rows,
                                const at::Tensor& gradient, double share);
/// Returns the number of columns of the output of LoRA's A.
std::int64_t lora_a_output_columns(const KernelCall& call);

/// Function that runs one operator.
using Kernel = void (*)(KernelCall& call);

/// Returns the function that runs an operator; null if there is none.
Kernel find_kernel(const step::Operator& op);

/// True if the operator's layer applies rotary position embeddings to queries and keys.
bool has_rotary_embedding(const KernelCall& call);
/// Applies rotary position embeddings in place to the first dimensions of `heads` [rows, heads,
/// dimensions], by the positions of the call's rows. `sign`: 1, or -1 to undo the rotation.
void apply_rotary_embedding(const KernelCall& call, const at::Tensor& heads, double sign);

}  // namespace stepwright::runtime
