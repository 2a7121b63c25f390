#pragma once

#include <span>
#include <vector>

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// Attention of one layer behind its norm: from normed rows [rows, hidden] to the partial result
/// [tokens, hidden] of the output projection, which `leave_tensor` completes.
TensorId attention_block(Emit& e, TensorId normed, const model::LayerClass& layer);
/// Leads from the gradient of the projection's result [tokens, hidden] to that of the normed rows.
TensorId attention_block_backward(Emit& e, TensorId dy, const model::LayerClass& layer);

/// A mixer that carries a state (delta net, Mamba, short convolution) behind its norm: from normed
/// rows [rows, hidden] to the partial result [tokens, hidden] of its last projection; and back.
TensorId state_mixer_block(Emit& e, TensorId normed, model::Mixer kind);
TensorId state_mixer_block_backward(Emit& e, TensorId dy, model::Mixer kind);

/// Projections of latent attention (DeepSeek): normed rows to queries, keys and values, and back.
TensorId latent_projections(Emit& e, TensorId normed);
TensorId latent_projections_backward(Emit& e, TensorId d_qkv);

/// Which MLP of a layer: the dense one, or the shared experts beside the routed ones.
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

/// MLP behind its norm: [rows, hidden] to the partial [tokens, hidden]; and back to normed rows.
TensorId mlp_block(Emit& e, TensorId normed, const MlpRole& role);
TensorId mlp_block_backward(Emit& e, TensorId dy, const MlpRole& role);
/// The MLP's two halves: to the activated [tokens, ffn] of this rank, and from there.
TensorId mlp_up(Emit& e, TensorId normed, const MlpRole& role);
TensorId mlp_down(Emit& e, TensorId active, const MlpRole& role);
TensorId mlp_down_backward(Emit& e, TensorId dy, const MlpRole& role);
TensorId mlp_up_backward(Emit& e, TensorId d_active, const MlpRole& role);

/// Routed (and shared) experts behind their norm: [rows, hidden] to complete [rows, hidden].
TensorId experts_block(Emit& e, TensorId normed);
TensorId experts_block_backward(Emit& e, TensorId dy);

/// Rows [rows, hidden] of embedded tokens without positions, and the gradient of the table.
TensorId embedded_rows(Emit& e);
void embedded_rows_backward(Emit& e, TensorId dy);

/// The norm before the head, the head and its cross entropy; returns what each chunk of the loss
/// keeps beside `e.kept` (`head_loss`). The gradient of the rows, with that which goes by them
/// where there is one. A position that has a part of the table alone takes in no rows and gives no
/// gradient (-1).
std::vector<Kept> predict(Emit& e, TensorId x, const NormRole& norm);
TensorId predict_backward(Emit& e, const NormRole& norm, std::span<const Kept> chunks,
                          TensorId beside);

/// The two branches of a layer, and what of them runs again in the backward.
class LayerWriter {
 public:
  LayerWriter(const model::LayerClass& layer, const plan::LayerRecompute& recompute)
      : layer_(layer), recompute_(recompute) {}

  /// Writes the forward into an `Emit` whose `kept` holds nothing else.
  TensorId forward(Emit& e, TensorId x);
  /// The kept tensors that survive the forward of the layer, whose input is `x`. In `all` those
  /// that a backward makes again take the place of their narrow copies.
  [[nodiscard]] Kept surviving(Kept& all, TensorId x) const;
  /// Writes the backward into an `Emit` whose `kept` was restored.
  TensorId backward(Emit& b, TensorId dy, const Rematerialisation::Source& source) const;

 private:
  void forget_local_results(Kept& kept) const;

  model::LayerClass layer_;
  plan::LayerRecompute recompute_;
  ModuleEnds ends_{};
  Kept originals_;          ///< Tensors of which narrow copies are kept.
  bool reduces_ = false;    ///< Results of products are sums over tensor ranks.
  bool exchanges_ = false;  ///< Rows leave their rank for experts by an exchange.
};

/// Tensors of an activation beside its input; -1: none.
struct ActivationOperands {
  TensorId other = -1;      ///< The other half of a gated product, where it is a tensor of its own.
  TensorId gate = -1;       ///< Tensor in which the activated gates are kept.
  TensorId places = -1;     ///< Row that each of `weights` belongs to.
  TensorId weights = -1;    ///< One number for each row, multiplied with the result.
  TensorId d_weights = -1;  ///< Gradient of `weights`, in a backward.
};

/// True if activated gates stand until the backward: no kernel takes them with the product.
bool keeps_gates(const Setting& setting);

/// Activation function over [rows, columns] results; gated ones read twice as many.
TensorId activate(Emit& e, TensorId x, const Sheet& sheet, LayerPart part,
                  const ActivationOperands& beside = {});
TensorId activate_backward(Emit& e, TensorId dy, TensorId x, const Sheet& sheet, LayerPart part,
                           const ActivationOperands& beside = {});

}  // namespace stepwright::step
