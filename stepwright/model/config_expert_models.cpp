// Readers of decoders with experts whose router takes a softmax.
#include <set>

#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_experts.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::model {
namespace {

ModelArchitecture read_mixtral(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5});
  model.experts =
      MixtureOfExperts{.count = fields.size_or_default({"num_local_experts", "num_experts"}, 8),
                       .top_k = fields.size_or_default("num_experts_per_tok", 2),
                       .ffn = model.ffn};
  read_attention_windows(fields, AttentionWindowRule::kEveryLayer, 0, model);
  return model;
}

ModelArchitecture read_qwen2_moe(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 32768, .kv_heads = 16});
  model.qkv_bias = fields.flag("qkv_bias", true);
  const std::int64_t shared = fields.size_or_default("shared_expert_intermediate_size", 5632, 0);
  read_qwen_experts(
      fields,
      {.count = 60, .top_k = 4, .ffn = 1408, .shared_ffn = shared, .shared_gate = shared > 0},
      model);
  read_attention_windows(fields, AttentionWindowRule::kEvenLayersUntil, 4096, model);
  return model;
}

ModelArchitecture read_qwen3_moe(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 32768, .kv_heads = 4});
  set_qwen3_attention(fields, model);
  read_qwen_experts(fields, {.count = 128, .top_k = 8, .ffn = 768}, model);
  read_attention_windows(fields, AttentionWindowRule::kSwitched, 4096, model);
  return model;
}

ModelArchitecture read_qwen3_vl_moe(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 128000, .kv_heads = 16, .tied = true});
  set_qwen3_attention(fields, model);
  read_qwen_experts(fields, {.count = 60, .top_k = 4, .ffn = 1408}, model);
  if (model.experts) model.experts->normalize_top_k = true;
  return model;
}

/// Sets OLMo's experts, which are `intermediate_size` wide, and one norm over all heads of queries
/// and one of keys.
void add_olmo_experts(const ConfigJsonReader& fields, MixtureOfExperts fallback,
                      ModelArchitecture& model) {
  model.qk_norm = QkNorm::kWhole;
  read_attention_biases(fields, model);
  fallback.count = fields.size_or_default({"num_experts", "num_local_experts"}, fallback.count);
  fallback.top_k = fields.size_or_default("num_experts_per_tok", fallback.top_k);
  fallback.ffn = model.ffn;
  fallback.normalize_top_k = fields.flag("norm_topk_prob", false);
  model.experts = fallback;
}

ModelArchitecture read_olmoe(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 4096, .norm_epsilon = 1e-5});
  note_qkv_clipping(fields, model);
  add_olmo_experts(fields, {.count = 64, .top_k = 8}, model);
  return model;
}

ModelArchitecture read_flex_olmo(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 4096});
  model.norm_placement = NormPlacement::kAfter;
  add_olmo_experts(fields, {.count = 7, .top_k = 5}, model);
  return model;
}

ModelArchitecture read_granitemoe(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 2048});
  read_attention_biases(fields, model);
  read_granite_scales(fields, 1, model);
  model.experts = MixtureOfExperts{.count = fields.size_or_default("num_local_experts", 8),
                                   .top_k = fields.size_or_default("num_experts_per_tok", 2),
                                   .ffn = model.ffn};
  return model;
}

ModelArchitecture read_granitemoeshared(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_granitemoe(fields);
  model.experts->shared_ffn = fields.size_or_default("shared_intermediate_size", 0, 0);
  return model;
}

/// Reads Granite's MoE with sliding windows: attention sinks (a trained logit per head), and
/// windows in three of four layers.
ModelArchitecture read_granitemoe_swa(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_granitemoeshared(fields);
  model.sinks = true;
  read_attention_windows(fields, [](std::int64_t layer) { return layer % 4 != 0; }, 128, model);
  return model;
}

/// Reads PhiMoE, whose LayerNorm has biases.
ModelArchitecture read_phimoe(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5});
  fields.mark_config_keys_used({"original_max_position_embeddings"});
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  read_attention_biases(fields, model);
  model.head_bias = fields.flag("lm_head_bias", false);
  model.experts = MixtureOfExperts{.count = fields.size_or_default("num_local_experts", 16),
                                   .top_k = 2,
                                   .ffn = model.ffn,
                                   .normalize_top_k = false};
  add_uncounted_model_part("experts are weighed among those that come near them", model);
  if (fields.size_or_default("num_experts_per_tok", 2) != 2) {
    fields.value("num_experts_per_tok")->fail_unsupported("a number but 2: its router takes two");
  }
  read_attention_windows(fields, AttentionWindowRule::kEveryLayer, 0, model);
  return model;
}

/// Reads gpt-oss: biases everywhere, attention sinks, a window in every other layer.
ModelArchitecture read_gpt_oss(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5, .head_dim = 64});
  model.activation = ActivationFunction::kClampedSwiglu;
  read_attention_biases(fields, model, true);
  model.sinks = true;
  note_unusual_gate_clamp(fields, model);
  if (!fields.rotary_embedding_settings()) {
    model.rotary_scaling = RotaryScaling{.kind = RotaryScalingKind::kYarn,
                                         .factor = 32,
                                         .high_frequency = 32,
                                         .original_positions = 4096,
                                         .rounded = false};
  }
  model.experts =
      MixtureOfExperts{.count = fields.size_or_default({"num_local_experts", "num_experts"}, 128),
                       .top_k = fields.size_or_default("num_experts_per_tok", 4),
                       .ffn = model.ffn,
                       .bias = true,
                       .router_bias = true};
  read_attention_windows(fields, [](std::int64_t layer) { return layer % 2 == 0; }, 128, model);
  return model;
}

/// Reads Mellum, whose layers with a window have a rotary base of their own.
ModelArchitecture read_mellum(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 131072, .kv_heads = 4, .head_dim = 128});
  model.rotary_fraction = fields.read_rotary_share_of_head(1);
  set_qwen3_attention(fields, model);
  model.experts =
      MixtureOfExperts{.count = fields.size_or_default({"num_experts", "num_local_experts"}, 64),
                       .top_k = fields.size_or_default("num_experts_per_tok", 8),
                       .ffn = fields.size_or_default("moe_intermediate_size", 896),
                       .normalize_top_k = fields.flag("norm_topk_prob", true)};
  replace_experts_in_listed_dense_layers(fields, 0, model);
  read_attention_windows(fields, [](std::int64_t) { return false; }, 1024, model);
  if (!fields.value("rope_parameters")) model.window_rotary_base = 1e4;
  model.multi_token_layers =
      fields.size_or_default({"num_nextn_predict_layers", "num_mtp_layers"}, 0, 0);
  return model;
}

/// Returns experts of width `intermediate_size`, of which `shared` are shared by all tokens.
MixtureOfExperts wide_experts(const ModelArchitecture& model, std::int64_t count,
                              std::int64_t top_k, std::int64_t shared) {
  return {.count = count, .top_k = top_k, .ffn = model.ffn, .shared_ffn = shared * model.ffn};
}

constexpr std::int64_t kMostShared = 1024;  // Most shared experts of a layer.

ModelArchitecture read_aria(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 2048});
  read_attention_biases(fields, model);
  model.experts = wide_experts(
      model, fields.size_or_default("moe_num_experts", 8), fields.size_or_default("moe_topk", 2),
      fields.size_or_default({"moe_num_shared_experts"}, 2, 0, kMostShared));
  fields.refuse_model_if_flag_is_true("mlp_bias", "biases of the shared experts");
  if (model.activation != ActivationFunction::kSilu && model.experts->shared_ffn > 0) {
    add_uncounted_model_part("routed experts with silu beside others", model);
  }
  model.activation = ActivationFunction::kSilu;
  return model;
}

/// Reads a number, or a list that repeats one number for all layers; 1 if absent.
std::int64_t same_in_layers(const ConfigJsonReader& fields,
                            std::initializer_list<std::string_view> spellings) {
  const auto found = fields.find(spellings);
  if (!found || !found->is_sequence()) return fields.size_or_default(spellings, 1);
  const std::int64_t common = found->size() > 0 ? found->at(0).integer(1, kMaxModelDimension) : 1;
  for (std::size_t i = 0; i < found->size(); ++i) {
    if (found->at(i).integer(1, kMaxModelDimension) == common) continue;
    found->fail_unsupported("numbers of experts that differ between layers");
  }
  return common;
}

ModelArchitecture read_hunyuan_moe(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 2048, .norm_epsilon = 1e-5});
  model.qk_norm = QkNorm::kHead;
  read_attention_biases(fields, model);
  model.experts = wide_experts(model, same_in_layers(fields, {"num_experts", "num_local_experts"}),
                               same_in_layers(fields, {"moe_topk", "num_experts_per_tok"}), 1);
  note_norms_after_rotary(model);
  return model;
}

/// Reads Ernie's MoE: experts in every `moe_layer_interval`-th layer between a first and a last
/// one.
ModelArchitecture read_ernie_moe(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 131072, .kv_heads = 4, .norm_epsilon = 1e-5, .tied = true});
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = fields.flag("use_bias", false);
  if (model.mlp_bias) fields.value("use_bias")->fail_unsupported("biases of the shared experts");
  const std::int64_t width = fields.size_or_default("moe_intermediate_size", 1536);
  model.experts = MixtureOfExperts{
      .count = fields.size_or_default({"moe_num_experts", "num_experts"}, 64),
      .top_k = fields.size_or_default({"moe_k", "num_experts_per_tok"}, 6),
      .ffn = width,
      .shared_ffn = width * fields.size_or_default({"moe_num_shared_experts"}, 2, 0, kMostShared),
      .correction_bias = true};
  const std::int64_t first = fields.size_or_default("moe_layer_start_index", 1, 0);
  const auto end = fields.value("moe_layer_end_index");
  const std::int64_t given = end ? end->integer(-1, kMaxModelLayers) : -1;
  const std::int64_t last = given < 0 ? model.layers - 1 : given;
  const std::int64_t every = fields.size_or_default("moe_layer_interval", 1);
  replace_experts_by_dense_mlp(model, [=](std::int64_t layer) {
    return (layer + 1) % every != 0 || layer < first || layer > last;
  });
  return model;
}

constexpr ModelFieldName kDbrxNames[] = {
    {"layers", "n_layers"},        {"hidden", "d_model"},   {"heads", "n_heads"},
    {"kv_heads", "kv_n_heads"},    {"vocab", "vocab_size"}, {"positions", "max_seq_len"},
    {"experts.top_k", "moe_top_k"}};

/// Reads DBRX: LayerNorm without biases; attention and experts have nested mappings.
ModelArchitecture read_dbrx(const ConfigJsonReader& fields) {
  const ConfigJsonReader attention = fields.reader_of_nested_config("attn_config");
  const ConfigJsonReader feed_forward = fields.reader_of_nested_config("ffn_config");
  ModelArchitecture model;
  model.layers = fields.size({"n_layers", "num_hidden_layers"}, kMaxModelLayers);
  model.hidden = fields.size({"d_model", "hidden_size"});
  model.heads = fields.size({"n_heads", "num_attention_heads"});
  model.kv_heads = attention.size_or_default("kv_n_heads", 1);
  model.head_dim = head_dim(fields, model);
  model.vocabulary = fields.size({"vocab_size"});
  model.positions = fields.size_or_default({"max_seq_len", "max_position_embeddings"}, 2048);
  model.norm = Norm::kLayer;
  model.rotary_base = attention.read_number_or("rope_theta", model.rotary_base, 0, 1e12);
  note_qkv_clipping(attention, model);
  const auto normalized = feed_forward.find({"moe_normalize_expert_weights"});
  model.experts = MixtureOfExperts{.count = feed_forward.size_or_default("moe_num_experts", 4),
                                   .top_k = feed_forward.size_or_default("moe_top_k", 1),
                                   .ffn = feed_forward.size_or_default("ffn_hidden_size", 3584),
                                   .normalize_top_k = !normalized || !normalized->is_null()};
  if (feed_forward.value("ffn_act_fn")) {
    model.activation = feed_forward.reader_of_nested_config("ffn_act_fn")
                           .read_activation_function("name", ActivationFunction::kSilu);
  }
  return model;
}

/// Reads Command-R's MoE: one norm feeds both branches, and one of these has experts.
ModelArchitecture read_cohere2_moe(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 8192, .head_dim = 128, .tied = true});
  if (!fields.value("rms_norm_eps")) {
    model.norm = Norm::kLayer;
    model.norm_epsilon = fields.read_number_or("layer_norm_eps", 1e-5, 0, 1);
  }
  model.parallel_residual = model.shared_input_norm = true;
  model.logit_scale = fields.read_number_or("logit_scale", 0.0625, 0, 1e6);
  read_attention_biases(fields, model);
  model.experts = wide_experts(model, fields.size_or_default("num_experts", 8),
                               fields.size_or_default("num_experts_per_tok", 2),
                               fields.size_or_default({"num_shared_experts"}, 0, 0, kMostShared));
  const auto selection = fields.value("expert_selection_fn");
  if (selection && selection->text() == "sigmoid") {
    model.experts->scoring = RouterScoring::kSigmoid;
    model.experts->normalize_top_k = fields.flag("norm_topk_prob", true);
  }
  const auto combined = fields.value("shared_expert_combination_strategy");
  if (model.experts->shared_ffn > 0 && (!combined || combined->text() == "average")) {
    add_uncounted_model_part("routed and shared experts are averaged", model);
  }
  model.ffn = fields.size_or_default("prefix_dense_intermediate_size", model.ffn);
  const std::int64_t first = fields.size_or_default("first_k_dense_replace", 0, 0);
  replace_experts_in_listed_dense_layers(fields, first, model);
  const std::int64_t prefix = fields.size_or_default("prefix_dense_sliding_window_pattern", 1);
  const std::int64_t every = fields.size_or_default("sliding_window_pattern", 4);
  read_attention_windows(
      fields,
      [=](std::int64_t i) {
        return i < first ? (i + 1) % prefix != 0 : (i - first + 1) % every != 0;
      },
      4096, model);
  turn_off_rotary_outside_layers(model, [prefix](const LayerClass& layer, std::int64_t) {
    return layer.window > 0 || (!layer.has_experts() && prefix == 1);
  });
  return model;
}

/// Returns 1 for each layer with rotary positions. Layers with a 0 in `no_rope_layers` have none;
/// if that list is empty, every fourth layer has none.
std::vector<std::uint8_t> llama4_rotated(const ConfigJsonReader& fields,
                                         const ModelArchitecture& model) {
  const std::int64_t every = fields.size_or_default("no_rope_layer_interval", 4);
  std::vector<std::uint8_t> rotated;
  for (std::int64_t i = 0; i < model.layers; ++i) rotated.push_back((i + 1) % every != 0 ? 1 : 0);
  const auto list = fields.value("no_rope_layers");
  if (!list || (list->is_sequence() && list->size() == 0)) return rotated;
  check_one_entry_per_layer(*list, model);
  for (std::size_t i = 0; i < rotated.size(); ++i) {
    rotated[i] = list->at(i).integer(0, 1) != 0 ? 1 : 0;
  }
  return rotated;
}

/// Sets Llama 4's layers: rotated layers attend within chunks, unless `layer_types` differs.
void read_llama4_layers(const ConfigJsonReader& fields, ModelArchitecture& model) {
  const std::vector<std::uint8_t> rotated = llama4_rotated(fields, model);
  const auto chunk = fields.find({"attention_chunk_size"});
  const std::int64_t window =
      chunk && chunk->is_null() ? 0 : fields.size_or_default("attention_chunk_size", 8192);
  const LayerClass chunked{.window = window, .chunked = window > 0};
  std::vector<LayerClass> attending;
  if (const auto types = fields.value("layer_types")) {
    check_one_entry_per_layer(*types, model);
    attending =
        listed_layer_classes(*types, {{"chunked_attention", chunked}, {"full_attention", {}}});
  }
  std::vector<LayerClass> layers = model_layer_classes(model);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerClass& seen =
        attending.empty() ? (rotated[i] != 0 ? chunked : LayerClass{}) : attending[i];
    layers[i].window = seen.window;
    layers[i].chunked = seen.chunked;
    layers[i].rotated = rotated[i] != 0;
  }
  set_layer_class_pattern(model, std::move(layers));
}

/// Reads Llama 4: experts of width `intermediate_size` with one shared expert, and dense MLPs of
/// width `intermediate_size_mlp`.
ModelArchitecture read_llama4(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5, .head_dim = 128});
  read_attention_biases(fields, model);
  if (fields.flag("use_qk_norm", true)) model.qk_norm = QkNorm::kPlain;
  model.experts = wide_experts(model, fields.size_or_default("num_local_experts", 16),
                               fields.size_or_default("num_experts_per_tok", 1), 1);
  model.experts->normalize_top_k = false;
  model.experts->scoring = RouterScoring::kSigmoid;
  model.ffn = fields.size_or_default("intermediate_size_mlp", 16384);
  const std::int64_t every = fields.size_or_default("interleave_moe_layer_step", 1);
  std::set<std::int64_t> sparse;
  const auto listed = fields.value("moe_layers");
  for (std::size_t i = 0; listed && i < listed->size(); ++i) {
    sparse.insert(listed->at(i).integer(0, model.layers - 1));
  }
  replace_experts_by_dense_mlp(model, [&](std::int64_t layer) {
    return listed ? !sparse.contains(layer) : (layer + 1) % every != 0;
  });
  read_llama4_layers(fields, model);
  add_uncounted_model_part("what experts take in is scaled by the router", model);
  if (fields.flag("attn_temperature_tuning", true)) {
    add_uncounted_model_part("queries by their position in layers that are not rotated", model);
  }
  return model;
}

const ModelConfigFamily kExpertFamilies[] = {
    {"aria_text", read_aria, usual_model_config_keys()},
    {"cohere2_moe", read_cohere2_moe, usual_model_config_keys()},
    {"dbrx", read_dbrx, kDbrxNames},
    {"ernie4_5_moe", read_ernie_moe, usual_model_config_keys(), 5e5},
    {"hunyuan_v1_moe", read_hunyuan_moe, usual_model_config_keys()},
    {"llama4_text", read_llama4, usual_model_config_keys(), 5e5},
    {"mellum", read_mellum, usual_model_config_keys(), 5e5},
    {"flex_olmo", read_flex_olmo, usual_model_config_keys(), 5e5},
    {"granitemoe", read_granitemoe, usual_model_config_keys()},
    {"gpt_oss", read_gpt_oss, usual_model_config_keys(), 150000},
    {"granitemoe_swa", read_granitemoe_swa, usual_model_config_keys()},
    {"phimoe", read_phimoe, usual_model_config_keys(), 1e6},
    {"granitemoeshared", read_granitemoeshared, usual_model_config_keys()},
    {"mixtral", read_mixtral, usual_model_config_keys(), 1e6},
    {"olmoe", read_olmoe, usual_model_config_keys()},
    {"qwen2_moe", read_qwen2_moe, usual_model_config_keys()},
    {"qwen3_vl_moe_text", read_qwen3_vl_moe, usual_model_config_keys(), 5e5},
    {"qwen3_moe", read_qwen3_moe, usual_model_config_keys()},
};

}  // namespace

std::span<const ModelConfigFamily> softmax_router_model_families() { return kExpertFamilies; }

}  // namespace stepwright::model
