#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright {

enum class Norm : std::uint8_t { kRms, kLayer };
enum class Position : std::uint8_t { kRope, kLearned, kAlibi, kNone };
/// `kGelu` is x times the normal distribution function, `kGeluTanh` the approximation of it by a
/// hyperbolic tangent that GPT-2 was trained with.
enum class Activation : std::uint8_t { kSilu, kGelu, kRelu, kSquaredRelu, kGeluTanh };
/// How rotary frequencies are changed for sequences longer than those of the first training.
enum class RotaryScalingKind : std::uint8_t {
  kLinear,
  kLlama3,
  kDynamic,
  kYarn,
  kLongRope,
  kOther
};

inline constexpr Named<Norm> kNormNames[] = {{Norm::kRms, "rmsnorm"}, {Norm::kLayer, "layernorm"}};
inline constexpr Named<Position> kPositionNames[] = {{Position::kRope, "rope"},
                                                     {Position::kLearned, "learned"},
                                                     {Position::kAlibi, "alibi"},
                                                     {Position::kNone, "none"}};
inline constexpr Named<Activation> kActivationNames[] = {{Activation::kSilu, "silu"},
                                                         {Activation::kGelu, "gelu"},
                                                         {Activation::kRelu, "relu"},
                                                         {Activation::kSquaredRelu, "relu2"},
                                                         {Activation::kGeluTanh, "gelu_tanh"}};
inline constexpr Named<RotaryScalingKind> kRotaryScalingNames[] = {
    {RotaryScalingKind::kLinear, "linear"},     {RotaryScalingKind::kLlama3, "llama3"},
    {RotaryScalingKind::kDynamic, "dynamic"},   {RotaryScalingKind::kYarn, "yarn"},
    {RotaryScalingKind::kLongRope, "longrope"}, {RotaryScalingKind::kOther, "other"}};

/// A change of rotary frequencies. `linear` divides all of them by `factor`. `llama3` divides those
/// that turn fewer than `low_frequency` times in `original_positions`, keeps those that turn more
/// than `high_frequency` times, and interpolates between (Llama 3.1). Of the other kinds only the
/// name is kept.
struct RotaryScaling {
  RotaryScalingKind kind = RotaryScalingKind::kLinear;
  double factor = 1;
  double low_frequency = 1;
  double high_frequency = 4;
  std::int64_t original_positions = 8192;
  bool operator==(const RotaryScaling&) const = default;
};

/// Multi-head latent attention (DeepSeek-V2, -V3): queries, keys and values go through low-rank
/// projections. Heads have `nope_head_dim + rope_head_dim` for scores, `value_head_dim` for values.
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< 0: queries are projected directly.
  std::int64_t kv_rank = 512;
  std::int64_t nope_head_dim = 128;
  std::int64_t rope_head_dim = 64;
  std::int64_t value_head_dim = 128;
  auto operator<=>(const LatentAttention&) const = default;
};

/// Mixture of experts in place of the MLP of some layers.
struct Experts {
  std::int64_t count = 0;        ///< Routed experts of a layer.
  std::int64_t top_k = 0;        ///< Routed experts per token.
  std::int64_t ffn = 0;          ///< Intermediate width of one routed expert.
  std::int64_t shared_ffn = 0;   ///< Total intermediate width of the shared experts; 0: none.
  bool shared_gate = false;      ///< The shared expert's output is gated (Qwen2-MoE).
  bool correction_bias = false;  ///< One non-trained bias per expert (DeepSeek-V3).
  bool normalize_top_k = true;   ///< The weights of a token's top k add up to 1.
  std::vector<std::uint8_t> is_dense = {};  ///< Per layer: 1 where an MLP stands; empty: nowhere.
  bool operator==(const Experts&) const = default;
};

/// The features by which two layers differ in work, parameters or messages. Few distinct values per
/// model.
struct LayerClass {
  bool experts = false;
  std::int64_t window = 0;  ///< Sliding attention window in tokens; 0: full attention.
  auto operator<=>(const LayerClass&) const = default;
};

/// A decoder-only transformer: everything that decides its parameters, operators and messages.
/// Sizes are element counts. Built by `built_in_model`, `read_config` or `read_inline_model`, which
/// guarantee `check`ed values.
struct Architecture {
  std::string name = {};
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  ///< Of queries and keys; with `latent` nope + rope.
  std::int64_t ffn = 0;  ///< Intermediate width of the dense MLP; 0 only where no layer has one.
  std::int64_t vocabulary = 0;
  std::int64_t positions =
      0;              ///< Longest sequence the model states (rows of a learned table); 0: none.
  bool gated = true;  ///< MLP with a gate (SwiGLU, GeGLU): three matrices instead of two.
  Activation activation = Activation::kSilu;
  Norm norm = Norm::kRms;
  bool norm_bias = false;      ///< LayerNorm with a bias vector beside its weight.
  double norm_epsilon = 1e-5;  ///< Added to the variance in every norm.
  Position position = Position::kRope;
  double rotary_fraction = 1.0;  ///< Share of the head dimension that is rotated.
  double rotary_base = 10000;    ///< Of the geometric series of rotary wavelengths.
  std::optional<RotaryScaling> rotary_scaling = {};
  bool qkv_bias = false;
  bool attention_output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;          ///< Bias of the language-model head.
  bool qk_norm = false;            ///< RMSNorm over the head dimension of queries and keys (Qwen3).
  bool embedding_norm = false;     ///< A norm right after the embedding (BLOOM).
  bool parallel_residual = false;  ///< Attention and MLP read the same input (GPT-NeoX).
  bool shared_input_norm =
      false;             ///< With `parallel_residual`: one norm feeds both (GPT-J, Falcon).
  bool tied = false;     ///< Embedding and head share one table.
  double dropout = 0.0;  ///< Hidden and attention dropout in training; masks are kept.
  std::optional<LatentAttention> latent = {};
  std::optional<Experts> experts = {};
  std::vector<std::int64_t> windows = {};  ///< Per layer sliding window, 0: full; empty: all full.
  std::int64_t multi_token_layers = 0;  ///< Multi-token-prediction layers that the model carries.
  bool count_multi_token = false;       ///< Whether they are part of the step and of the counts.

  /// The class of layer `layer` (0-based).
  [[nodiscard]] LayerClass layer_class(std::int64_t layer) const;
  /// How many layers there are of each class; multi-token layers are not among them.
  [[nodiscard]] std::map<LayerClass, std::int64_t> layer_classes() const;
  /// Width of the value of one head: `head_dim` unless `latent`.
  [[nodiscard]] std::int64_t value_dim() const {
    return latent ? latent->value_head_dim : head_dim;
  }
  bool operator==(const Architecture&) const = default;
};

inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;    ///< Of any size but layers.
inline constexpr std::int64_t kLargestLayers = std::int64_t{1} << 16;  ///< Layers of one model.

/// Throws `Error{kInput}` with the field, its value and the rule when sizes are absurd or
/// contradict each other (zero, beyond `kLargestSize`, heads not a multiple of kv_heads, top_k
/// above count, 2^62 parameters, ...). After it no count of this room overflows. `where` opens the
/// message (a file or "model").
void check(const Architecture& model, const std::string& where);

}  // namespace stepwright
