#include "stepwright/model/config_blocks.h"

#include <fmt/format.h>

#include "stepwright/model/layer_class_index.h"

namespace stepwright::model {
namespace {

constexpr ModelFieldName kNames[] = {{"layers", "num_hidden_layers"},
                                     {"hidden", "hidden_size"},
                                     {"heads", "num_attention_heads"},
                                     {"kv_heads", "num_key_value_heads"},
                                     {"ffn", "intermediate_size"},
                                     {"vocab", "vocab_size"},
                                     {"positions", "max_position_embeddings"},
                                     {"rotary_fraction", "partial_rotary_factor"},
                                     {"experts.top_k", "num_experts_per_tok"},
                                     {"experts.ffn", "moe_intermediate_size"},
                                     {"latent.rope_head_dim", "qk_rope_head_dim"},
                                     {"multi_token_layers", "num_nextn_predict_layers"}};

}  // namespace

std::span<const ModelFieldName> usual_names() { return kNames; }

std::int64_t kv_heads(const ConfigFields& fields, std::int64_t heads, std::int64_t fallback) {
  const auto found = fields.find({"num_key_value_heads"});
  if (found && !found->is_null()) return found->integer(1, kLargestModelSize);
  return found || fallback == 0 ? heads : fallback;
}

std::int64_t head_dim(const ConfigFields& fields, const Architecture& model,
                      std::int64_t fallback) {
  if (const auto given = fields.value("head_dim")) return given->integer(1, kLargestModelSize);
  if (fallback > 0 && !fields.find({"head_dim"})) return fallback;
  if (model.hidden % model.heads != 0) {
    fields.fail(
        fmt::format("hidden_size ({}) is not a multiple of num_attention_heads ({}), and "
                    "there is no head_dim",
                    model.hidden, model.heads));
  }
  return model.hidden / model.heads;
}

Architecture read_common_config_keys(const ConfigFields& fields, ModelConfigDefaults defaults) {
  Architecture model;
  model.layers = fields.size({"num_hidden_layers"}, kLargestLayerCount);
  model.hidden = fields.size({"hidden_size"});
  model.heads = fields.size({"num_attention_heads"});
  model.kv_heads = kv_heads(fields, model.heads, defaults.kv_heads);
  if (!defaults.only_experts) {
    model.ffn = fields.size({"intermediate_size", "block_ff_dim"});  // LFM2 spells it block_ff_dim.
  }
  model.vocabulary = fields.size({"vocab_size"});
  model.positions = fields.size_or("max_position_embeddings", defaults.positions);
  model.activation = fields.activation("hidden_act", defaults.activation);
  model.norm_epsilon = fields.read_number_or("rms_norm_eps", defaults.norm_epsilon, 0, 1);
  model.tied = fields.tied(defaults.tied);
  return model;
}

Architecture read_llama_like_model(const ConfigFields& fields, ModelConfigDefaults defaults) {
  Architecture model = read_common_config_keys(fields, defaults);
  model.head_dim = head_dim(fields, model, defaults.head_dim);
  return model;
}

void add_uncounted_model_part(std::string_view what, Architecture& model) {
  if (!model.beyond.empty()) model.beyond += ", ";
  model.beyond += what;
}

void note_qkv_clipping(const ConfigFields& fields, Architecture& model) {
  if (fields.read_number_or("clip_qkv", 0, 0, 1e12) > 0) {
    add_uncounted_model_part("queries, keys and values are clipped", model);
  }
}

void note_norms_after_rotary(Architecture& model) {
  add_uncounted_model_part("queries and keys are normed behind their rotation", model);
}

void note_mixer_activation(const ConfigFields& fields, std::string_view key, Architecture& model) {
  const bool silu = fields.activation(key, Activation::kSilu) == Activation::kSilu;
  if (!silu && has_recurrent_mixer(model))
    add_uncounted_model_part("another activation than silu in mixers", model);
}

void add_attention_biases(const ConfigFields& fields, Architecture& model, bool fallback) {
  model.qkv_bias = model.attention_output_bias = fields.flag("attention_bias", fallback);
}

void add_qwen3_attention(const ConfigFields& fields, Architecture& model) {
  model.qk_norm = QkNorm::kHead;
  add_attention_biases(fields, model);
}

void add_granite_scales(const ConfigFields& fields, double attention, Architecture& model) {
  constexpr double kLargestScale = 1e6;
  model.embedding_scale = fields.read_number_or("embedding_multiplier", 1, 0, kLargestScale);
  model.residual_scale = fields.read_number_or("residual_multiplier", 1, 0, kLargestScale);
  model.attention_scale =
      fields.read_number_or("attention_multiplier", attention, 0, kLargestScale);
  model.logit_scale = 1 / fields.read_number_or("logits_scaling", 1, 1e-6, kLargestScale);
}

}  // namespace stepwright::model
