#pragma once

#include <span>
#include <vector>

#include "stepwright/step/block_build_context.h"

namespace stepwright::step {

/// Appends the operators of a layer's attention, without the norm before it: from normed rows
/// [rows, hidden] to the output projection's partial result [tokens, hidden], which
/// `exit_tensor_parallel_region` sums over the tensor ranks.
TensorId append_attention_block(ModelBlockBuildContext& e, TensorId normed,
                                const model::LayerClass& layer);
/// Appends the operators of the backward of a layer's attention: from the gradient of the output
/// projection's result [tokens, hidden] to the gradient of the attention's normed input.
TensorId append_attention_block_backward(ModelBlockBuildContext& e, TensorId dy,
                                         const model::LayerClass& layer);

/// Appends a mixer that carries a state along the sequence (delta net, Mamba, short convolution):
/// from normed rows [rows, hidden] to the partial result [tokens, hidden] of its last projection.
TensorId append_recurrent_mixer_block(ModelBlockBuildContext& e, TensorId normed,
                                      model::TokenMixer kind);
/// Appends the backward of a recurrent mixer, which carries a state along the sequence (delta net,
/// Mamba, short convolution).
TensorId append_state_mixer_block_backward(ModelBlockBuildContext& e, TensorId dy,
                                           model::TokenMixer kind);

/// Appends the projections of latent attention (MLA) from normed rows to queries, keys, values.
TensorId append_latent_projections(ModelBlockBuildContext& e, TensorId normed);
/// Appends the backward of the projections of latent attention.
TensorId append_latent_projections_backward(ModelBlockBuildContext& e, TensorId d_qkv);

/// Names of one MLP's operators and of the tensors that it keeps for its backward, and its width:
/// the dense MLP of a layer, or the shared experts beside the routed ones.
struct MlpOperatorNames {
  LayerPart fc1{};
  LayerPart activation{};
  LayerPart fc2{};
  KeptTensorRole input{};
  KeptTensorRole fc1_out{};
  KeptTensorRole activation_out{};
  std::int64_t ffn = 0;
};
MlpOperatorNames dense_mlp(const model::ModelArchitecture& model, const model::LayerClass& layer);
MlpOperatorNames shared_mlp(const model::ModelArchitecture& model);

/// Appends the operators of an MLP, without the norm before it: from [rows, hidden] to a partial
/// result [tokens, hidden], still to be summed over the tensor ranks.
TensorId append_mlp_block(ModelBlockBuildContext& e, TensorId normed, const MlpOperatorNames& role);
/// Appends the backward of an MLP, without that of the norm before it.
TensorId append_mlp_block_backward(ModelBlockBuildContext& e, TensorId dy,
                                   const MlpOperatorNames& role);
/// Appends the first half of an MLP: from normed rows to this rank's activated [tokens, ffn].
TensorId append_mlp_first_half(ModelBlockBuildContext& e, TensorId normed,
                               const MlpOperatorNames& role);
/// Appends the second half of an MLP, from the activated [tokens, ffn] to its result.
TensorId append_mlp_second_half(ModelBlockBuildContext& e, TensorId active,
                                const MlpOperatorNames& role);
TensorId mlp_down_backward(ModelBlockBuildContext& e, TensorId dy, const MlpOperatorNames& role);
TensorId mlp_up_backward(ModelBlockBuildContext& e, TensorId d_active,
                         const MlpOperatorNames& role);

/// Appends the operators of a mixture of experts (routed and shared), without the norm before it:
/// from [rows, hidden] to the complete result [rows, hidden].
TensorId append_experts_block(ModelBlockBuildContext& e, TensorId normed);
/// Appends the backward of a mixture of experts.
TensorId append_experts_block_backward(ModelBlockBuildContext& e, TensorId dy);

/// Appends the look-up of the token embeddings [rows, hidden], without position embeddings.
TensorId append_embedding_lookup(ModelBlockBuildContext& e);
/// Appends the gradient of the embedding table.
void append_embedding_table_gradient(ModelBlockBuildContext& e, TensorId dy);

/// Appends the final norm, the head and the cross entropy; returns what each loss chunk keeps
/// besides `e.kept`. `x`: -1 on a pipeline stage with only a part of the vocabulary table.
std::vector<KeptTensors> append_head_and_cross_entropy(ModelBlockBuildContext& e, TensorId x,
                                                       const NormTensorNames& norm);
/// Appends the backward of final norm, head and cross entropy; returns the gradient of their input
/// (-1 if the input was), plus `beside` if it is not -1.
TensorId predict_backward(ModelBlockBuildContext& e, const NormTensorNames& norm,
                          std::span<const KeptTensors> chunks, TensorId beside);

/// Appends the two branches of a layer (mixer and MLP), and decides which of their operators run
/// again in the backward (recomputation).
class LayerOperatorWriter {
 public:
  LayerOperatorWriter(const model::LayerClass& layer, const plan::LayerRecompute& recompute)
      : layer_(layer), recompute_(recompute) {}

  /// Appends the operators of the layer's forward, from its input `x`, and returns the layer's
  /// output; `e.kept` must be empty.
  TensorId forward(ModelBlockBuildContext& e, TensorId x);
  /// Returns those tensors of `all` (all that the layer's backward reads) that stay in memory after
  /// the forward; the backward recomputes the others. `x`: the layer's input. In `all`, tensors
  /// that the backward recomputes replace their narrow (fp8) copies.
  [[nodiscard]] KeptTensors tensors_kept_after_forward(KeptTensors& all, TensorId x) const;
  /// Appends the operators of the layer's backward, from `dy`, the gradient of the layer's output,
  /// and returns the gradient of the layer's input. `b.kept` must hold the tensors restored from
  /// the forward.
  TensorId backward(ModelBlockBuildContext& b, TensorId dy,
                    const Rematerialisation::RecomputationSource& source) const;

 private:
  void forget_local_results(KeptTensors& kept) const;

  model::LayerClass layer_;
  plan::LayerRecompute recompute_;
  ModuleEnds ends_{};
  /// Tensors of which the forward keeps only copies in a narrow type (fp8 or smaller), by role.
  KeptTensors originals_;
  /// True if results of the layer's matrix products are summed over tensor ranks.
  bool reduces_ = false;
  bool exchanges_ = false;  ///< True if an all-to-all sends rows to the ranks of their experts.
};

/// Operands of an activation function besides its input; -1: absent.
struct ActivationFunctionOperands {
  /// Tensor with the second half (gate or up) of a gated activation's input, if it is a separate
  /// tensor; -1: it is not.
  TensorId other = -1;
  /// Tensor that keeps the activated gates of a gated MLP for the backward; -1: none.
  TensorId gate = -1;
  /// Tensor with the index of the row that each element of `weights` multiplies; -1: none.
  TensorId places = -1;
  /// Tensor with one gate weight of an expert per row, which multiplies the result; -1: none.
  TensorId weights = -1;
  /// Tensor that keeps the result without gate weights for the backward; -1: none.
  TensorId unweighted = -1;
  /// Tensor that receives the gradient of `weights`, in a backward; -1: none.
  TensorId d_weights = -1;
};

/// True if the activated gates of a gated MLP stay in memory until the backward, because no kernel
/// fuses the activation with the multiplication by the gates.
bool mlp_keeps_activated_gates(const StepBuildSettings& setting);

/// Appends an activation function with [rows, columns] results; a gated one reads twice as many.
TensorId append_activation_function(ModelBlockBuildContext& e, TensorId x,
                                    const ActivationMatrixSize& sheet, LayerPart part,
                                    const ActivationFunctionOperands& beside = {});
/// Appends the backward of an activation function and returns the gradient of its input.
TensorId append_activation_function_backward(ModelBlockBuildContext& e, TensorId dy, TensorId x,
                                             const ActivationMatrixSize& sheet, LayerPart part,
                                             const ActivationFunctionOperands& beside = {});

}  // namespace stepwright::step
