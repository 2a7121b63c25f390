#pragma once

#include <span>
#include <vector>

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// Writes a layer's attention after its norm: from normed rows [rows, hidden] to the partial result
/// [tokens, hidden] of the output projection, which `leave_tensor` sums over the tensor ranks.
TensorId attention_block(Emit& e, TensorId normed, const model::LayerClass& layer);
/// Writes the backward of `attention_block`: from the gradient of the output projection's result
/// [tokens, hidden] to the gradient of the normed rows.
TensorId attention_block_backward(Emit& e, TensorId dy, const model::LayerClass& layer);

/// Write a mixer that carries a state (delta net, Mamba, short convolution) after its norm, and its
/// backward: from normed rows [rows, hidden] to the partial result [tokens, hidden] of its last
/// projection.
TensorId state_mixer_block(Emit& e, TensorId normed, model::Mixer kind);
TensorId state_mixer_block_backward(Emit& e, TensorId dy, model::Mixer kind);

/// Write the projections of latent attention (DeepSeek), from normed rows to queries, keys and
/// values, and their backward.
TensorId latent_projections(Emit& e, TensorId normed);
TensorId latent_projections_backward(Emit& e, TensorId d_qkv);

/// The parts and kept tensors of one MLP of a layer: the dense MLP, or the shared experts beside
/// the routed ones.
struct MlpRole {
  LayerPart fc1{};
  LayerPart activation{};
  LayerPart fc2{};
  Keep input{};
  Keep fc1_out{};
  Keep activation_out{};
  std::int64_t ffn = 0;
};
MlpRole dense_mlp(const model::Architecture& model, const model::LayerClass& layer);
MlpRole shared_mlp(const model::Architecture& model);

/// Write an MLP after its norm, from [rows, hidden] to the partial [tokens, hidden], and its
/// backward.
TensorId mlp_block(Emit& e, TensorId normed, const MlpRole& role);
TensorId mlp_block_backward(Emit& e, TensorId dy, const MlpRole& role);
/// Write the two halves of an MLP: `mlp_up` ends with the activated [tokens, ffn] of this rank,
/// `mlp_down` starts with it.
TensorId mlp_up(Emit& e, TensorId normed, const MlpRole& role);
TensorId mlp_down(Emit& e, TensorId active, const MlpRole& role);
TensorId mlp_down_backward(Emit& e, TensorId dy, const MlpRole& role);
TensorId mlp_up_backward(Emit& e, TensorId d_active, const MlpRole& role);

/// Write routed (and shared) experts after their norm, from [rows, hidden] to complete [rows,
/// hidden], and their backward.
TensorId experts_block(Emit& e, TensorId normed);
TensorId experts_block_backward(Emit& e, TensorId dy);

/// Write the look-up of embedded tokens [rows, hidden], without positions, and the gradient of the
/// embedding table.
TensorId embedded_rows(Emit& e);
void embedded_rows_backward(Emit& e, TensorId dy);

/// Write the norm before the head, the head and its cross entropy, and their backward. `predict`
/// returns what each chunk of the loss keeps in addition to `e.kept` (`head_loss`).
/// `predict_backward` returns the gradient of the rows, plus the gradient `beside` if it is not -1.
/// A position that holds only a part of the table gets `x` = -1 and returns no gradient (-1).
std::vector<Kept> predict(Emit& e, TensorId x, const NormRole& norm);
TensorId predict_backward(Emit& e, const NormRole& norm, std::span<const Kept> chunks,
                          TensorId beside);

/// Writes the two branches of a layer (mixer and MLP), and decides which of their operators run
/// again in the backward.
class LayerWriter {
 public:
  LayerWriter(const model::LayerClass& layer, const plan::LayerRecompute& recompute)
      : layer_(layer), recompute_(recompute) {}

  /// Writes the layer's forward, from its input `x`; `e.kept` must be empty. Returns the layer's
  /// output.
  TensorId forward(Emit& e, TensorId x);
  /// Returns the kept tensors that stay in memory after the layer's forward, whose input is `x`. In
  /// `all`, tensors that the backward recomputes replace their narrow copies.
  [[nodiscard]] Kept surviving(Kept& all, TensorId x) const;
  /// Writes the layer's backward, from `dy`, the gradient of its output; `b.kept` must hold the
  /// restored tensors. Returns the gradient of the layer's input.
  TensorId backward(Emit& b, TensorId dy, const Rematerialisation::Source& source) const;

 private:
  void forget_local_results(Kept& kept) const;

  model::LayerClass layer_;
  plan::LayerRecompute recompute_;
  ModuleEnds ends_{};
  Kept originals_;          ///< Original tensors of which only narrow copies are kept.
  bool reduces_ = false;    ///< True if results of products are summed over tensor ranks.
  bool exchanges_ = false;  ///< True if rows are sent to the ranks of their experts.
};

/// Operands of an activation function besides its input; -1: absent.
struct ActivationOperands {
  TensorId other = -1;      ///< The other half of a gated product, if it is a separate tensor.
  TensorId gate = -1;       ///< Tensor that keeps the activated gates for the backward.
  TensorId places = -1;     ///< For each of `weights`, the row that it multiplies.
  TensorId weights = -1;    ///< One weight per row, which multiplies the result.
  TensorId d_weights = -1;  ///< Gradient of `weights`, in a backward.
};

/// True if activated gates stay in memory until the backward, as no kernel fuses them with the
/// product.
bool keeps_gates(const Setting& setting);

/// Write an activation function with [rows, columns] results, and its backward; a gated one reads
/// twice as many elements.
TensorId activate(Emit& e, TensorId x, const Sheet& sheet, LayerPart part,
                  const ActivationOperands& beside = {});
TensorId activate_backward(Emit& e, TensorId dy, TensorId x, const Sheet& sheet, LayerPart part,
                           const ActivationOperands& beside = {});

}  // namespace stepwright::step
