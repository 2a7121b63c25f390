#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// How tensor parallelism cuts a parameter into shards.
enum class TensorSplit : std::uint8_t {
  kReplicated,  ///< Every tensor rank holds the whole parameter.
  kColumn,      ///< Cut along the output dimension (`rows`), as usual for fc1 and qkv.
  kRow,         ///< Cut along the input dimension (`columns`), as usual for fc2 and projection.
  kVocabulary,  ///< Cut along the vocabulary, which is padded to divide evenly.
};

/// How a parameter is initialised before training.
enum class ParameterInit : std::uint8_t {
  kNormal,  ///< Initial values of a matrix.
  /// Initial values, of smaller variance, of a matrix whose products are added to the residual
  /// stream.
  kResidual,
  kOnes,   ///< Initial values of a norm's weight.
  kZeros,  ///< Initial values of a bias.
};

/// One tensor of a block: `rows x columns` as stored (output x input); vectors have `columns = 1`.
/// Routed experts have `copies` > 1, which expert parallelism divides among ranks.
struct Parameter {
  std::string_view name;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  TensorSplit split = TensorSplit::kReplicated;
  std::int64_t copies = 1;
  bool expert = false;  ///< A routed expert's weight: cut by expert and expert-tensor parallelism.
  /// False for the router's correction bias, which is stored but not counted as a parameter.
  bool trained = true;
  /// True for a norm weight or a bias, which is not a factor of a matrix product.
  bool vector = false;
  /// True if heads on different tensor ranks share it, so that the ranks must sum its gradients.
  bool per_head = false;
  bool frozen = false;   ///< The parameter is stored and used, but not trained.
  bool adapter = false;  ///< True for the A or the B of a low-rank adapter.
  /// True for the A or B that every tensor rank holds whole although the adapted weight is cut;
  /// each rank computes a partial sum of its gradient.
  bool partial = false;
  bool narrow = false;  ///< Stored in `Adapters::base`, the type of frozen matrices.
  ParameterInit start = ParameterInit::kNormal;
  /// Rows of each matrix that is fused into this tensor, in order; tensor parallelism cuts each one
  /// by itself. The first is 0 if the tensor is a single matrix.
  std::array<std::int64_t, 6> fused{};

  /// True for a table with one row per word of the vocabulary.
  [[nodiscard]] bool is_table() const { return split == TensorSplit::kVocabulary && !vector; }
  [[nodiscard]] std::int64_t elements() const { return rows * columns * copies; }
};

/// Returns the parameters of one layer of a class, in the order of use: norm, mixer, norm, MLP or
/// experts. Names: norm.attention (before the mixer, whatever it is) and norm.attention_out (on its
/// result), attention.qkv (fused rows of q, k, v and, if there is one, the gate),
/// attention.qkv_bias, attention.q_norm, attention.k_norm, attention.gate (biases of gates),
/// attention.sinks, attention.output, attention.output_bias, norm.mlp, norm.mlp_out, mlp.fc1 (gate
/// and up fused when gated), mlp.fc1_bias, mlp.activation, mlp.fc2, mlp.fc2_bias, router.weight,
/// router.weight_bias, router.correction_bias, experts.latent_in, experts.fc1, experts.fc1_bias,
/// experts.fc2, experts.fc2_bias, experts.latent_out, shared.fc1, shared.fc2, shared.gate.
/// Latent attention has attention.q_down, attention.q_norm, attention.q_up (or attention.q),
/// attention.kv_down, attention.kv_norm, attention.kv_up, and for an indexer attention.index_q,
/// attention.index_k, attention.index_norm, attention.index_weights.
/// Mixers with a state have mixer.in (delta net: queries, keys, values, gates, strengths, decays;
/// Mamba-2: gates, values, B, C, step sizes; Mamba: values, gates; short convolution: B, C, x),
/// mixer.convolution, mixer.select, mixer.select_norm, mixer.step, mixer.step_bias, mixer.decay,
/// mixer.skip, mixer.norm, mixer.out.
/// A weight's bias is `..._bias`. Last come the adapters, the A and B of each adapted weight
/// (`..._lora_a`, `..._lora_b`, model/adapters.h).
std::vector<Parameter> layer_parameters(const Architecture& model, LayerClass layer);

/// Returns the adapter target of fused part number `part` of a weight; nullopt if the weight has no
/// such part or the part is no target.
std::optional<AdapterTarget> target_of(const AdaptedWeight& entry, const Parameter& weight,
                                       std::size_t part);

/// Returns the name of the bias that belongs to a weight, whether or not a model has it:
/// "mlp.fc1_bias", "head.bias".
std::string bias_name(std::string_view weight);

/// Returns the parameters before the first layer: embedding.word, embedding.position (learned),
/// embedding.norm.
std::vector<Parameter> embedding_parameters(const Architecture& model);

/// Returns the parameters of an encoder of images, which is held with the embedding: the matrices
/// and norms of its layers, named like a decoder's (one entry for all layers together),
/// encoder.patches (the rest of the tower) and encoder.projector. Empty if no step encodes images.
std::vector<Parameter> encoder_parameters(const Architecture& model);

/// Returns the parameters after the last layer: norm.final, head.weight (absent when tied),
/// head.bias.
std::vector<Parameter> head_parameters(const Architecture& model);

/// Returns the parameters of one multi-token-prediction module: two input norms, a projection 2h ->
/// h, one layer like the model's last, a norm before the model's own head; no tables (DeepSeek-V3,
/// section 2.2). Names: multi_token.norm_embedding, multi_token.norm_hidden,
/// multi_token.projection, multi_token.norm_final and the names of the layer.
std::vector<Parameter> multi_token_parameters(const Architecture& model);

/// Counts all parameters of the model, adapters included; multi-token layers only if
/// `count_multi_token`.
std::int64_t count_parameters(const Architecture& model);

/// Counts the parameters of a model that are trained.
std::int64_t count_trained_parameters(const Architecture& model);

/// Counts the parameters that one token uses: `top_k` of the `count` routed experts.
std::int64_t count_active_parameters(const Architecture& model);

/// Returns the vocabulary padded to a multiple of `tensor`, so that all tensor ranks hold the same
/// number of rows (Megatron with `--make-vocab-size-divisible-by 1`).
std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor);

}  // namespace stepwright::model
