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

/// How tensor parallelism cuts a parameter.
enum class Split : std::uint8_t {
  kReplicated,  ///< Every tensor rank holds all of it.
  kColumn,      ///< Cut along the output dimension (rows of `shape`), the usual fc1, qkv.
  kRow,         ///< Cut along the input dimension, the usual fc2, projection.
  kVocabulary,  ///< Cut along the (padded) vocabulary.
};

/// The values that training starts from.
enum class Start : std::uint8_t {
  kNormal,    ///< Start of a matrix.
  kResidual,  ///< Start of a matrix whose products are added to the residual stream: narrower.
  kOnes,      ///< Start of a norm's weight.
  kZeros,     ///< Start of a bias.
};

/// One tensor of a block. `rows x columns` as stored (output x input); vectors have
/// `columns = 1`. `copies` > 1 for routed experts, which expert parallelism divides.
struct Parameter {
  std::string_view name;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  Split split = Split::kReplicated;
  std::int64_t copies = 1;
  bool expert = false;  ///< A routed expert's weight: cut by expert and expert-tensor parallelism.
  bool trained = true;  ///< False for the router's correction bias: stored, no parameter.
  bool vector = false;  ///< A norm weight or a bias: not a factor of a matrix product.
  bool per_head = false;  ///< Belongs to a norm of single heads: tensor ranks sum its gradients.
  bool frozen = false;    ///< Stored and used, but not trained.
  bool adapter = false;   ///< The A or the B of an adapter.
  bool partial = false;  ///< The one of them that tensor ranks have whole beside a weight that they
                         ///< cut: each has a part of its gradient.
  bool narrow = false;   ///< Stored in the type of the adapters' base.
  Start start = Start::kNormal;
  /// Rows of the matrices that stand in it one below the other, each of which is cut by itself; the
  /// first is 0 where it is one matrix.
  std::array<std::int64_t, 6> fused{};

  /// A table of the vocabulary.
  [[nodiscard]] bool is_table() const { return split == Split::kVocabulary && !vector; }
  [[nodiscard]] std::int64_t elements() const { return rows * columns * copies; }
};

/// Parameters of one layer of a class, in the order of use: norm, mixer, norm, MLP or experts.
/// Names: norm.attention (before the mixer, whatever it is) and norm.attention_out (on its result),
/// attention.qkv (fused q, k, v rows, and those of a gate), attention.qkv_bias, attention.q_norm,
/// attention.k_norm, attention.gate (biases of gates), attention.sinks, attention.output,
/// attention.output_bias, norm.mlp, norm.mlp_out, mlp.fc1 (gate and up fused when gated),
/// mlp.fc1_bias, mlp.activation, mlp.fc2, mlp.fc2_bias, router.weight, router.weight_bias,
/// router.correction_bias, experts.latent_in, experts.fc1, experts.fc1_bias, experts.fc2,
/// experts.fc2_bias, experts.latent_out, shared.fc1, shared.fc2, shared.gate; latent attention:
/// attention.q_down, attention.q_norm, attention.q_up (or attention.q), attention.kv_down,
/// attention.kv_norm, attention.kv_up, and of an indexer attention.index_q, attention.index_k,
/// attention.index_norm, attention.index_weights; mixers with a state: mixer.in (delta net:
/// queries, keys, values, gates, strengths, decays; Mamba-2: gates, values, B, C, step sizes;
/// Mamba: values, gates; short convolution: B, C, x), mixer.convolution, mixer.select,
/// mixer.select_norm, mixer.step, mixer.step_bias, mixer.decay, mixer.skip, mixer.norm, mixer.out.
/// A weight's bias is `..._bias`. Last come the adapters, a weight's A and B each (`..._lora_a`,
/// `..._lora_b`, model/adapters.h).
std::vector<Parameter> layer_parameters(const Architecture& model, LayerClass layer);

/// The target of a part of an adapted weight, by its place among the fused ones.
std::optional<AdapterTarget> target_of(const AdaptedWeight& entry, const Parameter& weight,
                                       std::size_t part);

/// The name of the bias beside a weight, if there is one: "mlp.fc1_bias", "head.bias".
std::string bias_name(std::string_view weight);

/// Embedding side: embedding.word, embedding.position (learned), embedding.norm.
std::vector<Parameter> embedding_parameters(const Architecture& model);

/// Parameters of an encoder of images, which lies beside the embedding: the matrices and norms of
/// its layers, named as those of a decoder's (each all layers' together), encoder.patches (all else
/// of the tower) and encoder.projector. Empty where no step encodes images.
std::vector<Parameter> encoder_parameters(const Architecture& model);

/// Head side: norm.final, head.weight (absent when tied), head.bias.
std::vector<Parameter> head_parameters(const Architecture& model);

/// One multi-token-prediction module: two input norms, a projection 2h -> h, one layer like the
/// model's last, a norm before the model's own head; no tables (DeepSeek-V3, section 2.2). Names:
/// multi_token.norm_embedding, multi_token.norm_hidden, multi_token.projection,
/// multi_token.norm_final and those of the layer.
std::vector<Parameter> multi_token_parameters(const Architecture& model);

/// All parameters of the model with those of adapters; multi-token layers only if
/// `count_multi_token`.
std::int64_t count_parameters(const Architecture& model);

/// Counts the parameters that are trained.
std::int64_t count_trained_parameters(const Architecture& model);

/// Parameters that one token meets: routed experts count `top_k` of `count`.
std::int64_t count_active_parameters(const Architecture& model);

/// The vocabulary padded to a multiple of `tensor`, so that the ranks of tensor parallelism hold as
/// many rows each (Megatron with `--make-vocab-size-divisible-by 1`).
std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor);

}  // namespace stepwright::model
