#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "stepwright/model/check.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Returns the model fields with their usual keys in config.json files, for error messages.
std::span<const ModelFieldName> usual_model_config_keys();

/// Values for keys that a config.json lacks: the defaults of its family's configuration class in
/// transformers.
struct ModelConfigDefaults {
  std::int64_t positions = 0;
  /// Number of key and value heads if the config.json states none; 0: as many as query heads.
  std::int64_t kv_heads = 0;
  double norm_epsilon = 1e-6;
  /// Number of elements of a head if the config.json states none; 0: hidden_size /
  /// num_attention_heads.
  std::int64_t head_dim = 0;
  bool tied = false;
  ActivationFunction activation = ActivationFunction::kSilu;
  /// True if all layers have experts, so that a config.json needs no `intermediate_size`.
  bool only_experts = false;
};

/// Reads the number of key and value heads (`num_key_value_heads`) from a config.json. Null:
/// `heads`; absent: `fallback`, or `heads` if `fallback` is 0.
std::int64_t kv_heads(const ConfigJsonReader& fields, std::int64_t heads, std::int64_t fallback);
/// Reads the number of elements of a head (`head_dim`) from a config.json. Null: hidden_size /
/// num_attention_heads; absent: `fallback`, or that quotient if `fallback` is 0.
std::int64_t head_dim(const ConfigJsonReader& fields, const ModelArchitecture& model,
                      std::int64_t fallback = 0);

/// Reads the config.json keys that most model families share, as a model with RMSNorm, gated MLP,
/// rotary positions and grouped queries. The caller must set `head_dim`.
ModelArchitecture read_common_config_keys(const ConfigJsonReader& fields,
                                          ModelConfigDefaults defaults);
/// Reads a model with RMSNorm, gated MLP, rotary positions and grouped queries, `head_dim`
/// included. Rotary positions cover whole heads; like most families, it ignores a rotated share in
/// the config.json.
ModelArchitecture read_llama_like_model(const ConfigJsonReader& fields,
                                        ModelConfigDefaults defaults);
/// Appends the name of a computation that model fields cannot express to `model.beyond`.
void add_uncounted_model_part(std::string_view what, ModelArchitecture& model);
/// Adds a remark to `model.beyond` if a config.json states a bound by which queries, keys and
/// values are clipped.
void note_qkv_clipping(const ConfigJsonReader& fields, ModelArchitecture& model);
/// Adds a remark to `model.beyond` that queries and keys are normed after their rotation (HunYuan).
void note_norms_after_rotary(ModelArchitecture& model);
/// Adds a remark to `model.beyond` if `key` names another activation than SiLU, which recurrent
/// mixers are assumed to use.
void note_unusual_mixer_activation(const ConfigJsonReader& fields, std::string_view key,
                                   ModelArchitecture& model);
/// Reads `attention_bias` and applies it to all four projections of attention (query, key, value,
/// output).
void read_attention_biases(const ConfigJsonReader& fields, ModelArchitecture& model,
                           bool fallback = false);
/// Sets Qwen3's attention: a norm of each query and key head, and biases if `attention_bias` says
/// so.
void set_qwen3_attention(const ConfigJsonReader& fields, ModelArchitecture& model);
/// Reads Granite's factors on token embeddings, residual additions and attention scores, and its
/// divisor of the logits. `attention`: factor on attention scores if the config.json has none.
void read_granite_scales(const ConfigJsonReader& fields, double attention,
                         ModelArchitecture& model);

}  // namespace stepwright::model
