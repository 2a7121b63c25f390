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

std::span<const ModelFieldName> usual_model_config_keys() { return kNames; }

std::int64_t kv_heads(const ConfigJsonReader& fields, std::int64_t heads, std::int64_t fallback) {
  const auto found = fields.find({"num_key_value_heads"});
  if (found && !found->is_null()) return found->integer(1, kMaxModelDimension);
  return found || fallback == 0 ? heads : fallback;
}

std::int64_t head_dim(const ConfigJsonReader& fields, const ModelArchitecture& model,
                      std::int64_t fallback) {
  if (const auto given = fields.value("head_dim")) return given->integer(1, kMaxModelDimension);
  if (fallback > 0 && !fields.find({"head_dim"})) return fallback;
  if (model.hidden % model.heads != 0) {
    fields.fail(
        fmt::format("hidden_size ({}) is not a multiple of num_attention_heads ({}), and "
                    "there is no head_dim",
                    model.hidden, model.heads));
  }
  return model.hidden / model.heads;
}

ModelArchitecture read_common_config_keys(const ConfigJsonReader& fields,
                                          ModelConfigDefaults defaults) {
  ModelArchitecture model;
  model.layers = fields.size({"num_hidden_layers"}, kMaxModelLayers);
  model.hidden = fields.size({"hidden_size"});
  model.heads = fields.size({"num_attention_heads"});
  model.kv_heads = kv_heads(fields, model.heads, defaults.kv_heads);
  if (!defaults.only_experts) {
    model.ffn = fields.size({"intermediate_size", "block_ff_dim"});  // LFM2 spells it block_ff_dim.
  }
  model.vocabulary = fields.size({"vocab_size"});
  model.positions = fields.size_or_default("max_position_embeddings", defaults.positions);
  model.activation = fields.read_activation_function("hidden_act", defaults.activation);
  model.norm_epsilon = fields.read_number_or("rms_norm_eps", defaults.norm_epsilon, 0, 1);
  model.tied = fields.read_tied_embeddings_flag(defaults.tied);
  return model;
}

ModelArchitecture read_llama_like_model(const ConfigJsonReader& fields,
                                        ModelConfigDefaults defaults) {
  ModelArchitecture model = read_common_config_keys(fields, defaults);
  model.head_dim = head_dim(fields, model, defaults.head_dim);
  return model;
}

void add_uncounted_model_part(std::string_view what, ModelArchitecture& model) {
  if (!model.beyond.empty()) model.beyond += ", ";
  model.beyond += what;
}

void note_qkv_clipping(const ConfigJsonReader& fields, ModelArchitecture& model) {
  if (fields.read_number_or("clip_qkv", 0, 0, 1e12) > 0) {
    add_uncounted_model_part("queries, keys and values are clipped", model);
  }
}

void note_norms_after_rotary(ModelArchitecture& model) {
  add_uncounted_model_part("queries and keys are normed behind their rotation", model);
}

void note_unusual_mixer_activation(const ConfigJsonReader& fields, std::string_view key,
                                   ModelArchitecture& model) {
  const bool silu =
      fields.read_activation_function(key, ActivationFunction::kSilu) == ActivationFunction::kSilu;
  if (!silu && has_recurrent_mixer(model))
    add_uncounted_model_part("another activation than silu in mixers", model);
}

void read_attention_biases(const ConfigJsonReader& fields, ModelArchitecture& model,
                           bool fallback) {
  model.qkv_bias = model.attention_output_bias = fields.flag("attention_bias", fallback);
}

void set_qwen3_attention(const ConfigJsonReader& fields, ModelArchitecture& model) {
  model.qk_norm = QkNorm::kHead;
  read_attention_biases(fields, model);
}

void read_granite_scales(const ConfigJsonReader& fields, double attention,
                         ModelArchitecture& model) {
  constexpr double kLargestScale = 1e6;
  model.embedding_scale = fields.read_number_or("embedding_multiplier", 1, 0, kLargestScale);
  model.residual_scale = fields.read_number_or("residual_multiplier", 1, 0, kLargestScale);
  model.attention_scale =
      fields.read_number_or("attention_multiplier", attention, 0, kLargestScale);
  model.logit_scale = 1 / fields.read_number_or("logits_scaling", 1, 1e-6, kLargestScale);
}

}  // namespace stepwright::model
