#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "stepwright/model/check.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Returns the file keys of fields as most config.json files spell them, for the messages of
/// `check`.
std::span<const FieldName> usual_names();

/// Defaults of a family's configuration class, used if a file lacks the key.
struct ConfigDefaults {
  std::int64_t positions = 0;
  std::int64_t kv_heads = 0;  ///< Heads of keys and values; 0: as many as query heads.
  double norm_epsilon = 1e-6;
  std::int64_t head_dim = 0;  ///< Width of a head; 0: hidden_size / num_attention_heads.
  bool tied = false;
  Activation activation = Activation::kSilu;
  /// True if no layer has a dense MLP, so that the file has no `intermediate_size`.
  bool only_experts = false;
};

/// Reads `num_key_value_heads`. Null means all heads; an absent key means `fallback`, and 0 there
/// means all heads.
std::int64_t kv_heads(const ConfigFields& fields, std::int64_t heads, std::int64_t fallback);
/// Reads `head_dim`. Null means hidden_size / num_attention_heads; an absent key means `fallback`,
/// and 0 there means the same quotient.
std::int64_t head_dim(const ConfigFields& fields, const Architecture& model,
                      std::int64_t fallback = 0);

/// Reads what most families have: RMSNorm, a gated MLP, rotary positions, grouped queries. Leaves
/// `head_dim` to the caller.
Architecture read_common(const ConfigFields& fields, ConfigDefaults defaults);
/// Reads what `read_common` reads, and the head dimension. Rotary positions cover whole heads; a
/// rotated share that a file states is ignored, as most families do.
Architecture read_rotary(const ConfigFields& fields, ConfigDefaults defaults);
/// Appends to `model.beyond` a computation that the model's fields cannot express.
void add_beyond(std::string_view what, Architecture& model);
/// Notes in `model.beyond` that queries, keys and values are clipped, if the file has a clipping
/// bound.
void note_clipping(const ConfigFields& fields, Architecture& model);
/// Notes in `model.beyond` that queries and keys are normed after their rotation (HunYuan).
void note_norms_behind_rotation(Architecture& model);
/// Notes another activation in `model.beyond` if `key` names one: mixers that carry a state are
/// described with SiLU.
void note_mixer_activation(const ConfigFields& fields, std::string_view key, Architecture& model);
/// Reads `attention_bias`, which all four projections of attention share.
void add_attention_biases(const ConfigFields& fields, Architecture& model, bool fallback = false);
/// Sets norms of single query and key heads, and reads `attention_bias` (Qwen3).
void add_qwen3_attention(const ConfigFields& fields, Architecture& model);
/// Reads Granite's factors on embedded tokens, branches and attention scores, and the divisor of
/// the logits. `attention` is the factor on scores if the file has none.
void add_granite_scales(const ConfigFields& fields, double attention, Architecture& model);

}  // namespace stepwright::model
