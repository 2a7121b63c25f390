// Readers of decoders like GPT-2: LayerNorm, MLPs without gates, biases.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::model {
namespace {

constexpr ModelFieldName kGpt2Names[] = {{"layers", "n_layer"},       {"hidden", "n_embd"},
                                         {"heads", "n_head"},         {"kv_heads", "n_head"},
                                         {"ffn", "n_inner"},          {"vocab", "vocab_size"},
                                         {"positions", "n_positions"}};

/// Two possible spellings of one key.
using Spellings = std::array<std::string_view, 2>;

/// How a family spells its sizes, and the defaults of its class for keys that a file may lack.
struct GptKeys {
  Spellings layers = {"num_hidden_layers", "n_layer"};
  Spellings hidden = {"hidden_size", "n_embd"};
  Spellings heads = {"num_attention_heads", "n_head"};
  std::string_view ffn = "intermediate_size";
  std::int64_t usual_ffn = 0;  ///< Default MLP width; 0: four times the hidden width.
  std::string_view positions = "max_position_embeddings";
  std::int64_t usual_positions = 2048;
  PositionEncoding position = PositionEncoding::kLearned;
  std::string_view activation = "activation_function";
  ActivationFunction usual_activation = ActivationFunction::kGelu;
  double norm_epsilon = 1e-5;
};

std::int64_t size_of(const ConfigJsonReader& fields, const Spellings& keys,
                     std::int64_t high = kMaxModelDimension) {
  return fields.size({keys[0], keys[1]}, high);
}

/// Reads GPT-2's blocks: LayerNorm, biases, MLPs without gates, as many key heads as query heads.
ModelArchitecture read_gpt(const ConfigJsonReader& fields, const GptKeys& keys) {
  ModelArchitecture model;
  model.gated = false;
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = true;
  model.layers = size_of(fields, keys.layers, kMaxModelLayers);
  model.hidden = size_of(fields, keys.hidden);
  model.heads = model.kv_heads = size_of(fields, keys.heads);
  if (model.hidden % model.heads != 0) {
    fields.fail(
        fmt::format("the width {} is not a multiple of {} heads", model.hidden, model.heads));
  }
  model.head_dim = model.hidden / model.heads;
  model.ffn =
      fields.size_or_default(keys.ffn, keys.usual_ffn > 0 ? keys.usual_ffn : 4 * model.hidden);
  model.vocabulary = fields.size({"vocab_size"});
  model.positions = fields.size_or_default(keys.positions, keys.usual_positions);
  model.position = keys.position;
  model.activation = fields.read_activation_function(keys.activation, keys.usual_activation);
  model.norm_epsilon = fields.read_number_or("layer_norm_epsilon", keys.norm_epsilon, 0, 1);
  model.tied = fields.read_tied_embeddings_flag(true);
  return model;
}

void set_biases(ModelArchitecture& model, bool all) {
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = all;
}

/// Reads the sizes under GPT-2's key names.
ModelArchitecture read_gpt2_sizes(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_gpt(fields, {.layers = {"n_layer", "num_hidden_layers"},
                                              .hidden = {"n_embd", "hidden_size"},
                                              .heads = {"n_head", "num_attention_heads"},
                                              .ffn = "n_inner",
                                              .positions = "n_positions",
                                              .usual_activation = ActivationFunction::kGeluTanh});
  model.positions = fields.size({"n_positions", "max_position_embeddings"});
  return model;
}

/// Sets the factor on scores to 1 if `scale_attn_weights` is false; else it is one over the root of
/// the head width.
void read_score_scale(const ConfigJsonReader& fields, ModelArchitecture& model) {
  if (!fields.flag("scale_attn_weights", true)) model.attention_scale = 1;
}

ModelArchitecture read_gpt2(const ConfigJsonReader& fields) {
  fields.refuse_model_if_flag_is_true("add_cross_attention", "cross attention");
  fields.refuse_model_if_flag_is_true("scale_attn_by_inverse_layer_idx",
                                      "attention scaled by the layer's number");
  ModelArchitecture model = read_gpt2_sizes(fields);
  read_score_scale(fields, model);
  return model;
}

ModelArchitecture read_gpt_bigcode(const ConfigJsonReader& fields) {
  fields.refuse_model_if_flag_is_true("add_cross_attention", "cross attention");
  ModelArchitecture model = read_gpt2_sizes(fields);
  read_score_scale(fields, model);
  if (fields.flag("multi_query", true)) model.kv_heads = 1;
  return model;
}

/// Reads GPT-J and CodeGen: attention without biases, one norm for both branches, a bias of the
/// head.
ModelArchitecture read_gptj(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_gpt2_sizes(fields);
  model.position = PositionEncoding::kRope;
  model.qkv_bias = model.attention_output_bias = false;
  const std::int64_t rotated = fields.size_or_default("rotary_dim", 64);
  model.rotary_fraction = static_cast<double>(rotated) / static_cast<double>(model.head_dim);
  model.parallel_residual = model.shared_input_norm = true;
  model.head_bias = true;
  model.tied = fields.read_tied_embeddings_flag(false);
  return model;
}

/// Expands pairs [list of words, count] into one word for each layer.
std::vector<DocumentNode> repeated_words(DocumentNode pairs, std::int64_t layers) {
  std::vector<DocumentNode> all;
  for (std::size_t i = 0; i < pairs.size() && std::ssize(all) <= layers; ++i) {
    const DocumentNode words = pairs.at(i).at(0);
    const std::int64_t times = pairs.at(i).at(1).integer(1, kMaxModelLayers);
    for (std::int64_t j = 0; j < times && std::ssize(all) <= layers; ++j) {
      for (std::size_t k = 0; k < words.size(); ++k) all.push_back(words.at(k));
    }
  }
  return all;
}

/// Returns the window of each layer, 0 or `window_size`, from `attention_layers` (a word for each
/// layer) or `attention_types`.
std::vector<std::int64_t> gpt_neo_windows(const ConfigJsonReader& fields, std::int64_t layers) {
  const std::int64_t window = fields.size_or_default("window_size", 256);
  std::vector<DocumentNode> words;
  const auto listed = fields.value("attention_layers");
  const auto types = fields.value("attention_types");
  for (std::size_t i = 0; listed && i < listed->size(); ++i) words.push_back(listed->at(i));
  if (!listed && types) words = repeated_words(*types, layers);
  std::vector<std::int64_t> windows;
  for (const DocumentNode& word : words) windows.push_back(word.text() == "local" ? window : 0);
  for (std::int64_t i = 0; !listed && !types && i < layers; ++i) {
    windows.push_back(i % 2 == 0 ? 0 : window);
  }
  if (std::ssize(windows) != layers) {
    (listed ? *listed : *types)
        .fail(fmt::format("has {} layers, num_layers is {}", windows.size(), layers));
  }
  return windows;
}

/// Reads GPT-Neo, which does not scale attention scores.
ModelArchitecture read_gpt_neo(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_gpt(fields, {.layers = {"num_layers", "num_hidden_layers"},
                                              .heads = {"num_heads", "num_attention_heads"},
                                              .usual_activation = ActivationFunction::kGeluTanh});
  model.qkv_bias = false;
  model.attention_scale = 1;
  set_layer_attention_windows(model, gpt_neo_windows(fields, model.layers));
  return model;
}

/// Reads BLOOM, whose file has no keys for positions and MLP width: both are derived.
ModelArchitecture read_bloom(const ConfigJsonReader& fields) {
  fields.refuse_model_if_flag_is_true("apply_residual_connection_post_layernorm",
                                      "residuals behind the norms");
  ModelArchitecture model = read_gpt(fields, {.layers = {"n_layer", "num_hidden_layers"},
                                              .hidden = {"hidden_size", "n_embed"},
                                              .heads = {"n_head", "num_attention_heads"},
                                              .position = PositionEncoding::kAlibi});
  model.ffn = 4 * model.hidden;
  model.positions = 0;
  model.embedding_norm = true;
  model.activation = ActivationFunction::kGeluTanh;
  return model;
}

/// Returns the number of key and value heads as `FalconAttention` derives it.
std::int64_t falcon_kv_heads(const ConfigJsonReader& fields, std::int64_t heads) {
  if (fields.flag("new_decoder_architecture", false))
    return fields.size_or_default("num_kv_heads", heads);
  return fields.flag("multi_query", true) ? 1 : heads;
}

ModelArchitecture read_falcon(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_gpt(
      fields,
      {.ffn = "ffn_hidden_size", .position = PositionEncoding::kRope, .activation = "activation"});
  model.kv_heads = falcon_kv_heads(fields, model.heads);
  if (fields.flag("alibi", false)) {
    model.position = PositionEncoding::kAlibi;
    model.beyond = "what distance takes from scores is scaled as they are";
  }
  set_biases(model, fields.flag("bias", false));
  const bool grouped = fields.flag("new_decoder_architecture", false);
  model.parallel_residual = fields.flag("parallel_attn", true);
  model.shared_input_norm = model.parallel_residual &&
                            fields.size_or_default("num_ln_in_parallel_attn", grouped ? 2 : 1) == 1;
  return model;
}

/// Reads MPT, which transformers always builds without biases, with ALiBi and with MLPs four times
/// as wide as the model, whatever the file says.
ModelArchitecture read_mpt(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_gpt(fields, {.layers = {"n_layers", "num_hidden_layers"},
                                              .hidden = {"d_model", "hidden_size"},
                                              .heads = {"n_heads", "num_attention_heads"},
                                              .positions = "max_seq_len",
                                              .position = PositionEncoding::kAlibi});
  model.ffn = 4 * model.hidden;
  model.activation = ActivationFunction::kGelu;
  model.norm_bias = false;
  set_biases(model, false);
  if (fields.value("attn_config")) {
    const ConfigJsonReader attention = fields.reader_of_nested_config("attn_config");
    model.attention_scale = attention.read_number_or("softmax_scale", 0, 0, 1e6);
    note_qkv_clipping(attention, model);
  }
  return model;
}

/// Rows of the position table before the row of the first token.
constexpr std::int64_t kUnusedPositions = 2;

void skip_positions(ModelArchitecture& model) {
  model.first_position = kUnusedPositions;
  model.positions += kUnusedPositions;
}

ModelArchitecture read_opt(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_gpt(
      fields, {.ffn = "ffn_dim", .usual_ffn = 3072, .usual_activation = ActivationFunction::kRelu});
  if (fields.size_or_default("word_embed_proj_dim", model.hidden) != model.hidden) {
    fields.value("word_embed_proj_dim")->fail_unsupported("tables narrower than the layers");
  }
  if (!fields.flag("do_layer_norm_before", true)) {
    fields.value("do_layer_norm_before")->fail_unsupported("norms behind the residual sums");
  }
  fields.refuse_model_if_flag_is_true("_remove_final_layer_norm", "no final norm");
  skip_positions(model);
  set_biases(model, fields.flag("enable_bias", true));
  model.norm_weight = fields.flag("layer_norm_elementwise_affine", true);
  return model;
}

void scale_embedding(const ConfigJsonReader& fields, ModelArchitecture& model) {
  if (!fields.flag("scale_embedding", true)) return;
  model.embedding_scale = std::sqrt(static_cast<double>(model.hidden));
}

ModelArchitecture read_xglm(const ConfigJsonReader& fields) {
  fields.refuse_model_if_flag_is_true("add_cross_attention", "cross attention");
  ModelArchitecture model = read_gpt(fields, {.layers = {"num_layers", "num_hidden_layers"},
                                              .hidden = {"d_model", "hidden_size"},
                                              .heads = {"attention_heads", "num_attention_heads"},
                                              .ffn = "ffn_dim",
                                              .usual_ffn = 4096,
                                              .position = PositionEncoding::kSinusoidal});
  model.first_position = kUnusedPositions;
  // Chosen so that the longest wavelength is that of base 10000.
  const double waves = std::max(2.0, std::floor(static_cast<double>(model.hidden) / 2));
  model.rotary_base = std::pow(1e4, waves / (waves - 1));
  scale_embedding(fields, model);
  return model;
}

ModelArchitecture read_biogpt(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_gpt(fields, {.usual_ffn = 4096, .usual_positions = 1024, .activation = "hidden_act"});
  skip_positions(model);
  scale_embedding(fields, model);
  return model;
}

ModelArchitecture read_ctrl(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_gpt(fields, {.layers = {"n_layer", "num_hidden_layers"},
                                              .hidden = {"n_embd", "hidden_size"},
                                              .heads = {"n_head", "num_attention_heads"},
                                              .ffn = "dff",
                                              .usual_ffn = 8192,
                                              .positions = "n_positions",
                                              .usual_positions = 256,
                                              .position = PositionEncoding::kSinusoidal,
                                              .norm_epsilon = 1e-6});
  if (model.norm_epsilon != 1e-6)
    add_uncounted_model_part("norms of layers by an epsilon of 1e-6", model);
  model.activation = ActivationFunction::kRelu;
  model.embedding_scale = std::sqrt(static_cast<double>(model.hidden));
  model.head_bias = true;
  return model;
}

/// Reads GPT-2's blocks under Llama's key names: sizes, rotary positions, LayerNorm with a bias.
ModelArchitecture read_biased(const ConfigJsonReader& fields, ModelConfigDefaults defaults) {
  ModelArchitecture model = read_common_config_keys(fields, defaults);
  model.head_dim = head_dim(fields, model, defaults.head_dim);
  model.gated = false;
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  model.norm_epsilon = fields.read_number_or("layer_norm_eps", 1e-5, 0, 1);
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = true;
  return model;
}

ModelArchitecture read_gpt_neox(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_biased(fields, {.positions = 2048, .activation = ActivationFunction::kGelu});
  model.kv_heads = model.heads;
  model.head_dim = head_dim(fields, model);
  model.rotary_fraction = fields.read_rotary_share_of_head(0.25);
  model.parallel_residual = fields.flag("use_parallel_residual", true);
  read_attention_biases(fields, model, true);
  return model;
}

ModelArchitecture read_starcoder2(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_biased(fields, {.positions = 4096,
                                                 .kv_heads = 2,
                                                 .tied = true,
                                                 .activation = ActivationFunction::kGeluTanh});
  model.norm_epsilon = fields.read_number_or("norm_epsilon", 1e-5, 0, 1);
  set_biases(model, fields.flag("use_bias", true));
  read_attention_windows(fields, AttentionWindowRule::kEveryLayer, 0, model);
  return model;
}

ModelArchitecture read_phi(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_biased(fields, {.positions = 2048, .activation = ActivationFunction::kGeluTanh});
  model.rotary_fraction = fields.read_rotary_share_of_head(0.5);
  model.parallel_residual = model.shared_input_norm = true;
  model.head_bias = true;
  if (fields.flag("qk_layernorm", false)) {
    model.qk_norm = QkNorm::kHead;
    model.qk_norm_bias = true;
  }
  return model;
}

ModelArchitecture read_persimmon(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_biased(fields, {.positions = 16384, .activation = ActivationFunction::kSquaredRelu});
  model.rotary_fraction = fields.read_rotary_share_of_head(0.5);
  if (fields.flag("qk_layernorm", true)) {
    model.qk_norm = QkNorm::kHead;
    model.qk_norm_bias = true;
  }
  return model;
}

ModelArchitecture read_jais2(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_biased(fields, {.positions = 8192, .activation = ActivationFunction::kSquaredRelu});
  read_attention_biases(fields, model, true);
  model.mlp_bias = fields.flag("mlp_bias", true);
  return model;
}

ModelArchitecture read_stablelm(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_biased(fields, {.positions = 4096});
  model.gated = true;
  model.rotary_fraction = fields.read_rotary_share_of_head(0.25);
  model.qkv_bias = fields.flag("use_qkv_bias", false);
  model.attention_output_bias = model.mlp_bias = false;
  if (fields.flag("qk_layernorm", false)) model.qk_norm = QkNorm::kEachHead;
  model.parallel_residual = model.shared_input_norm = fields.flag("use_parallel_residual", false);
  return model;
}

const ModelConfigFamily kGptFamilies[] = {
    {"biogpt", read_biogpt, usual_model_config_keys()},
    {"bloom", read_bloom, usual_model_config_keys()},
    {"codegen", read_gptj, kGpt2Names},
    {"ctrl", read_ctrl, kGpt2Names},
    {"falcon", read_falcon, usual_model_config_keys()},
    {"gpt2", read_gpt2, kGpt2Names},
    {"gpt_bigcode", read_gpt_bigcode, kGpt2Names},
    {"gpt_neo", read_gpt_neo, usual_model_config_keys()},
    {"gpt_neox", read_gpt_neox, usual_model_config_keys()},
    {"gptj", read_gptj, kGpt2Names},
    {"jais2", read_jais2, usual_model_config_keys()},
    {"mpt", read_mpt, usual_model_config_keys()},
    {"opt", read_opt, usual_model_config_keys()},
    {"persimmon", read_persimmon, usual_model_config_keys()},
    {"phi", read_phi, usual_model_config_keys()},
    {"stablelm", read_stablelm, usual_model_config_keys()},
    {"starcoder2", read_starcoder2, usual_model_config_keys()},
    {"xglm", read_xglm, usual_model_config_keys()},
};

}  // namespace

std::span<const ModelConfigFamily> gpt2_model_families() { return kGptFamilies; }

}  // namespace stepwright::model
