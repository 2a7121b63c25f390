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

/// How tensor parallelism splits a parameter over its ranks.
enum class TensorParallelSplit : std::uint8_t {
  kReplicated,  ///< Every tensor rank holds the whole parameter.
  kColumn,      ///< Split along the output dimension (`rows`), as usual for fc1 and qkv.
  kRow,  ///< Split along the input dimension (`columns`), as usual for fc2 and attention's output.
  kVocabulary,  ///< Split along the vocabulary, padded to a multiple of the ranks.
};

/// Distribution from which a parameter gets its values before training.
enum class ParameterInitialization : std::uint8_t {
  kNormal,  ///< The parameter starts with random normal values: most matrices.
  /// The parameter starts with random normal values of smaller variance: matrices whose result is
  /// added to the residual stream.
  kResidual,
  kOnes,   ///< The parameter starts with all ones: norm weights.
  kZeros,  ///< The parameter starts with all zeros: biases.
};

/// One parameter tensor of a layer, stored as [rows, columns] (output, input); vectors have one
/// column. `copies`: number of routed experts that have it (1: not routed), divided among ranks by
/// expert parallelism.
struct ModelParameter {
  std::string_view name;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  TensorParallelSplit split = TensorParallelSplit::kReplicated;
  std::int64_t copies = 1;
  /// True for a routed expert's weight, which expert and expert-tensor parallelism split.
  bool expert = false;
  /// False for the router's load-balancing bias, which is stored but not counted as a parameter.
  bool trained = true;
  /// True for a norm weight or a bias, which no matrix product multiplies.
  bool vector = false;
  /// True if the heads of all tensor ranks share the parameter, so that the ranks must sum its
  /// gradients.
  bool per_head = false;
  /// True if a job freezes the parameter: it is stored and used, but not trained.
  bool frozen = false;
  bool adapter = false;  ///< True for the A or B of a LoRA adapter.
  /// True for an adapter's A or B that every tensor rank holds whole although the adapted weight is
  /// split; each rank computes a part of its gradient, to be summed.
  bool partial = false;
  /// True if the parameter is stored in `LoraAdapters::base`, the narrow type of frozen matrices.
  bool narrow = false;
  ParameterInitialization start = ParameterInitialization::kNormal;
  /// Rows of each matrix that is fused into this tensor (q, k, v, ...), in order; tensor
  /// parallelism splits each one separately. fused[0] = 0: a single matrix.
  std::array<std::int64_t, 6> fused{};

  /// True for an embedding or head matrix with one row per word of the vocabulary.
  [[nodiscard]] bool is_vocabulary_table() const {
    return split == TensorParallelSplit::kVocabulary && !vector;
  }
  [[nodiscard]] std::int64_t elements() const { return rows * columns * copies; }
};

/// Returns the parameters of one layer of a class, in the order of use: norm, mixer, norm, MLP or
/// experts, then the adapters' A and B (`..._lora_a`, `..._lora_b`, model/adapters.h). Biases are
/// named `..._bias`.
///
/// - Names of norms: norm.attention (before the mixer, whatever it is), norm.attention_out (on its
///   result), norm.mlp, norm.mlp_out.
/// - Attention: attention.qkv (fused rows of q, k, v and, if there is one, the gate),
///   attention.q_norm, attention.k_norm, attention.gate (biases of gates), attention.sinks,
///   attention.output. Latent attention: attention.q_down, attention.q_norm, attention.q_up (or
///   attention.q), attention.kv_down, attention.kv_norm, attention.kv_up; for an indexer
///   attention.index_q, attention.index_k, attention.index_norm, attention.index_weights.
/// - MLP: mlp.fc1 (gate and up fused when gated), mlp.activation, mlp.fc2. Experts: router.weight,
///   router.weight_bias, router.correction_bias, experts.latent_in, experts.fc1, experts.fc2,
///   experts.latent_out, shared.fc1, shared.fc2, shared.gate.
/// - Recurrent mixers: mixer.in (delta net: queries, keys, values, gates, strengths, decays;
///   Mamba-2: gates, values, B, C, step sizes; Mamba: values, gates; short convolution: B, C, x),
///   mixer.convolution, mixer.select, mixer.select_norm, mixer.step, mixer.step_bias, mixer.decay,
///   mixer.skip, mixer.norm, mixer.out.
std::vector<ModelParameter> layer_parameters(const ModelArchitecture& model, LayerClass layer);

/// Returns the adapter target of the fused part with index `part` (query, key, value, ...) of a
/// weight; nullopt if there is no such part or no adapter can target it.
std::optional<LoraTargetProduct> lora_target_of_fused_part(const LoraAdaptableWeight& entry,
                                                           const ModelParameter& weight,
                                                           std::size_t part);

/// Returns the name of a weight's bias, whether or not the model has it: "mlp.fc1_bias",
/// "head.bias".
std::string bias_name(std::string_view weight);

/// Returns the parameters before the first layer: embedding.word, embedding.position (if positions
/// are learned), embedding.norm.
std::vector<ModelParameter> embedding_parameters(const ModelArchitecture& model);

/// Returns the parameters of the image encoder, stored with the embedding: its layers' matrices and
/// norms (named like a decoder's, one entry for all layers together), encoder.patches (the rest of
/// the tower) and encoder.projector. Empty if training steps leave the encoder out.
std::vector<ModelParameter> encoder_parameters(const ModelArchitecture& model);

/// Returns the parameters after the last layer: norm.final, head.weight (absent when tied),
/// head.bias.
std::vector<ModelParameter> head_parameters(const ModelArchitecture& model);

/// Returns the parameters of one multi-token-prediction module (DeepSeek-V3, section 2.2): two
/// input norms, a [hidden, 2 x hidden] projection, one layer like the model's last, and a final
/// norm; it uses the model's own embedding and head. Names: multi_token.norm_embedding,
/// multi_token.norm_hidden, multi_token.projection, multi_token.norm_final and the names of the
/// layer.
std::vector<ModelParameter> multi_token_module_parameters(const ModelArchitecture& model);

/// Returns the number of all parameters of the model, adapters included; multi-token-prediction
/// layers only if `count_multi_token`.
std::int64_t count_parameters(const ModelArchitecture& model);

/// Returns the number of the model's parameters that are trained (not frozen).
std::int64_t count_trained_parameters(const ModelArchitecture& model);

/// Returns the number of parameters that one token uses: only `top_k` of the `count` routed
/// experts.
std::int64_t count_active_parameters(const ModelArchitecture& model);

/// Returns the vocabulary padded to a multiple of `tensor`, so that all tensor ranks hold the same
/// number of rows (Megatron with `--make-vocab-size-divisible-by 1`).
std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor);

}  // namespace stepwright::model
