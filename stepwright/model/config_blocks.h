#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "stepwright/model/check.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// The names of fields in most files, for the messages of `check`.
std::span<const FieldName> usual_names();

/// Defaults of a family's configuration class, where a file has no key.
struct ConfigDefaults {
  std::int64_t positions = 0;
  std::int64_t kv_heads = 0;  ///< Heads of keys and values; 0: all heads.
  double norm_epsilon = 1e-6;
  std::int64_t head_dim = 0;  ///< 0: hidden_size / num_attention_heads.
  bool tied = false;
  Activation activation = Activation::kSilu;
  bool only_experts = false;  ///< No layer has a dense MLP: no `intermediate_size`.
};

/// `num_key_value_heads`: null is all heads; absent is the class default, 0 for all heads.
std::int64_t kv_heads(const ConfigFields& fields, std::int64_t heads, std::int64_t fallback);
/// `head_dim`; null is hidden_size / num_attention_heads; absent is the class default, 0 for that.
std::int64_t head_dim(const ConfigFields& fields, const Architecture& model,
                      std::int64_t fallback = 0);

/// RMSNorm, a gated MLP, rotary positions, grouped queries: most families. Without `head_dim`.
Architecture read_common(const ConfigFields& fields, ConfigDefaults defaults);
/// Reads what `read_common` reads, and the head dimension. Whole heads are rotated: most families
/// pass over a share that a file states.
Architecture read_rotary(const ConfigFields& fields, ConfigDefaults defaults);
/// Says of a model what it computes beyond its description.
void add_beyond(std::string_view what, Architecture& model);
/// Queries, keys and values are clipped where a file says by how much.
void note_clipping(const ConfigFields& fields, Architecture& model);
/// Queries and keys are normed behind their rotation (HunYuan).
void note_norms_behind_rotation(Architecture& model);
/// Mixers that carry a state are described with SiLU; `key` may say that they have another.
void note_mixer_activation(const ConfigFields& fields, std::string_view key, Architecture& model);
/// `attention_bias` of all four projections of attention.
void add_attention_biases(const ConfigFields& fields, Architecture& model, bool fallback = false);
/// Norms of single heads of queries and keys, and `attention_bias` (Qwen3).
void add_qwen3_attention(const ConfigFields& fields, Architecture& model);
/// Granite: scales of embedded tokens, branches, scores and logits, which are divided by theirs.
/// `attention` is the scale of scores where the file has none.
void add_granite_scales(const ConfigFields& fields, double attention, Architecture& model);

}  // namespace stepwright::model
