// Readers of decoders like Llama's: RMSNorm, rotary positions, dense MLPs.
#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"

namespace stepwright::model {
namespace {

ModelArchitecture read_llama(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 2048});
  read_attention_biases(fields, model);
  model.mlp_bias = fields.flag("mlp_bias", false);
  return model;
}

ModelArchitecture read_mistral(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 131072, .kv_heads = 8});
  read_attention_windows(fields, AttentionWindowRule::kEveryLayer, 4096, model);
  return model;
}

ModelArchitecture read_qwen2(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 32768, .kv_heads = 32});
  model.qkv_bias = true;
  read_attention_windows(fields, AttentionWindowRule::kFromLayer, 4096, model);
  return model;
}

/// Reads Qwen2-VL and Qwen2.5-VL, whose rotary positions have three dimensions.
ModelArchitecture read_qwen2_vl(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 32768, .kv_heads = 8, .norm_epsilon = 1e-5});
  model.qkv_bias = true;
  read_attention_windows(fields, AttentionWindowRule::kFromLayer, 4096, model);
  return model;
}

ModelArchitecture read_qwen3_vl(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 128000, .kv_heads = 32, .head_dim = 128});
  set_qwen3_attention(fields, model);
  return model;
}

ModelArchitecture read_qwen3(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_common_config_keys(fields, {.positions = 32768, .kv_heads = 32});
  model.head_dim = fields.find({"head_dim"}) ? head_dim(fields, model) : 128;
  set_qwen3_attention(fields, model);
  read_attention_windows(fields, AttentionWindowRule::kFromLayer, 4096, model);
  return model;
}

/// Reads `attention_bias`, which all four projections share, and `mlp_bias`, as in Llama.
void add_llama_biases(const ConfigJsonReader& fields, ModelArchitecture& model) {
  read_attention_biases(fields, model);
  model.mlp_bias = fields.flag("mlp_bias", false);
}

/// False for the first of each four layers, which sees the whole sequence; true for the others.
bool slides_but_first(std::int64_t layer) { return layer % 4 != 0; }

ModelArchitecture read_cwm(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5, .head_dim = 128});
  model.mlp_bias = fields.flag("mlp_bias", false);
  read_attention_windows(fields, slides_but_first, 8192, model);
  if (!fields.rotary_embedding_settings()) {
    model.rotary_scaling = RotaryScaling{.kind = RotaryScalingKind::kLlama3, .factor = 16};
  }
  return model;
}

ModelArchitecture read_arcee(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields,
      {.positions = 4096, .norm_epsilon = 1e-5, .activation = ActivationFunction::kSquaredRelu});
  model.gated = false;
  add_llama_biases(fields, model);
  return model;
}

/// Reads Apertus: an activation with two trained numbers, and norms of single heads.
ModelArchitecture read_apertus(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 65536, .norm_epsilon = 1e-5, .activation = ActivationFunction::kXielu});
  model.gated = false;
  set_qwen3_attention(fields, model);
  if (!fields.rotary_embedding_settings()) {
    model.rotary_scaling = RotaryScaling{.kind = RotaryScalingKind::kLlama3, .factor = 8};
  }
  return model;
}

ModelArchitecture read_granite(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 2048});
  add_llama_biases(fields, model);
  read_granite_scales(fields, 1, model);
  return model;
}

ModelArchitecture read_granite_swa(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 8192, .kv_heads = 4, .norm_epsilon = 1e-5, .tied = true});
  add_llama_biases(fields, model);
  read_granite_scales(fields, 1, model);
  model.sinks = true;
  read_attention_windows(fields, slides_but_first, 128, model);
  return model;
}

ModelArchitecture read_helium(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 4096, .kv_heads = 20, .norm_epsilon = 1e-8, .head_dim = 128});
  model.qkv_bias = fields.flag("attention_bias", false);
  model.mlp_bias = fields.flag("mlp_bias", false);
  return model;
}

ModelArchitecture read_hunyuan_dense(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 2048, .norm_epsilon = 1e-5});
  model.qk_norm = QkNorm::kHead;
  read_attention_biases(fields, model);
  note_norms_after_rotary(model);
  return model;
}

ModelArchitecture read_hyperclovax(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 2048});
  add_llama_biases(fields, model);
  read_granite_scales(fields, 0, model);
  // The file's value divides logits; `logit_scale` multiplies them.
  model.logit_scale = 1 / model.logit_scale;
  if (fields.flag("use_post_norm", true)) model.norm_placement = NormPlacement::kBoth;
  return model;
}

ModelArchitecture read_ministral(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 131072, .kv_heads = 8});
  read_attention_windows(fields, AttentionWindowRule::kEveryLayer, 4096, model);
  return model;
}

ModelArchitecture read_ministral3(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 262144, .kv_heads = 8, .norm_epsilon = 1e-5, .head_dim = 128});
  read_attention_windows(fields, AttentionWindowRule::kEveryLayer, 0, model);
  const auto rope = fields.rotary_embedding_settings();
  const auto growth = rope ? rope->find("llama_4_scaling_beta") : std::nullopt;
  if (!rope) {
    model.rotary_scaling = usual_rotary_scaling(RotaryScalingKind::kYarn);
    model.rotary_scaling->factor = 16;
    model.rotary_scaling->original_positions = 16384;
    model.rotary_scaling->mscale = model.rotary_scaling->mscale_all_dim = 1;
  }
  if (!rope || (growth && !growth->is_null() && growth->number(0, 1e6) > 0)) {
    add_uncounted_model_part("queries are scaled by their position", model);
  }
  return model;
}

/// Reads SmolLM3: layers with a 0 in `no_rope_layers`, else every fourth, have no rotary positions.
ModelArchitecture read_smollm3(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 32768, .kv_heads = 4, .tied = true});
  add_llama_biases(fields, model);
  const std::int64_t every = fields.size_or_default("no_rope_layer_interval", 4);
  std::vector<std::uint8_t> rotated;
  for (std::int64_t i = 0; i < model.layers; ++i) rotated.push_back((i + 1) % every != 0 ? 1 : 0);
  if (const auto list = fields.value("no_rope_layers")) {
    check_one_entry_per_layer(*list, model);
    for (std::size_t i = 0; i < rotated.size(); ++i) {
      rotated[i] = list->at(i).integer(0, 1) != 0 ? 1 : 0;
    }
  }
  const auto turns = [&](std::int64_t i) { return rotated[static_cast<std::size_t>(i)] != 0; };
  const bool slides = fields.flag("use_sliding_window", false);
  read_attention_windows(fields, [&](std::int64_t i) { return slides && !turns(i); }, 0, model);
  turn_off_rotary_outside_layers(model,
                                 [&](const LayerClass&, std::int64_t i) { return turns(i); });
  return model;
}

ModelArchitecture read_ernie(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields,
      {.positions = 131072, .kv_heads = 2, .norm_epsilon = 1e-5, .head_dim = 128, .tied = true});
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = fields.flag("use_bias", false);
  return model;
}

ModelArchitecture read_seed_oss(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 524288, .kv_heads = 8, .head_dim = 128});
  model.qkv_bias = fields.flag("attention_bias", true);
  model.attention_output_bias = fields.flag("attention_out_bias", false);
  model.mlp_bias = fields.flag("mlp_bias", false);
  return model;
}

ModelArchitecture read_phi3(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 4096, .norm_epsilon = 1e-5});
  model.rotary_fraction = fields.read_rotary_share_of_head(1);
  fields.mark_config_keys_used({"original_max_position_embeddings"});
  read_attention_windows(fields, AttentionWindowRule::kEveryLayer, 0, model);
  return model;
}

ModelArchitecture read_glm(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_common_config_keys(
      fields, {.positions = 131072, .kv_heads = 2, .norm_epsilon = 1.5625e-7});
  model.head_dim = head_dim(fields, model, 128);
  model.rotary_fraction = fields.read_rotary_share_of_head(0.5);
  model.qkv_bias = fields.flag("attention_bias", true);
  return model;
}

ModelArchitecture read_glm4(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_glm(fields);
  model.norm_placement = NormPlacement::kBoth;
  return model;
}

/// Reads OLMo, whose LayerNorm has no weights.
ModelArchitecture read_olmo(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 2048, .norm_epsilon = 1e-5});
  model.norm = Norm::kLayer;
  model.norm_weight = false;
  read_attention_biases(fields, model);
  note_qkv_clipping(fields, model);
  return model;
}

ModelArchitecture read_olmo2(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 2048, .norm_epsilon = 1e-5});
  model.norm_placement = NormPlacement::kAfter;
  model.qk_norm = QkNorm::kWhole;
  read_attention_biases(fields, model);
  return model;
}

ModelArchitecture read_olmo3(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_olmo2(fields);
  read_attention_windows(fields, all_layers_but_every_nth(4), 4096, model);
  // `rope_scaling` applies only to the layers without a window.
  if (fields.value("rope_scaling")) model.window_rotary_base = 5e5;
  return model;
}

ModelArchitecture read_exaone4(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 2048, .norm_epsilon = 1e-5});
  model.norm_placement = NormPlacement::kAfter;
  model.qk_norm = QkNorm::kHead;
  const auto pattern = fields.value("sliding_window_pattern");
  const bool words = pattern && pattern->text().find('L') != std::string::npos;
  if (words && !fields.value("layer_types")) {
    pattern->fail_unsupported("a pattern of letters without layer_types");
  }
  const std::int64_t every = words ? 4 : fields.size_or_default("sliding_window_pattern", 4);
  read_attention_windows(fields, all_layers_but_every_nth(every), 4096, model);
  drop_rotary_without_window(fields, model);
  return model;
}

/// Reads Cohere: LayerNorm without biases; one norm feeds both branches.
ModelArchitecture read_cohere(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 8192, .norm_epsilon = 1e-5, .tied = true});
  model.norm = Norm::kLayer;
  model.norm_epsilon = fields.read_number_or("layer_norm_eps", 1e-5, 0, 1);
  model.parallel_residual = model.shared_input_norm = true;
  model.logit_scale = fields.read_number_or("logit_scale", 0.0625, 0, 1e6);
  read_attention_biases(fields, model);
  if (fields.flag("use_qk_norm", false)) model.qk_norm = QkNorm::kEachHead;
  return model;
}

ModelArchitecture read_cohere2(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_cohere(fields);
  model.qk_norm = QkNorm::kNone;
  const std::int64_t every = fields.size_or_default("sliding_window_pattern", 4);
  read_attention_windows(fields, all_layers_but_every_nth(every), 4096, model);
  drop_rotary_without_window(fields, model);
  return model;
}

ModelArchitecture read_nanochat(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 2048, .activation = ActivationFunction::kSquaredRelu});
  model.gated = false;
  model.norm_weight = false;
  model.embedding_norm = true;
  model.qk_norm = QkNorm::kPlain;
  model.logit_cap = fields.read_logit_soft_cap("final_logit_softcapping", 15);
  read_attention_biases(fields, model);
  return model;
}

/// Reads Cohere's Compass: only layer types with numbers in `rope_parameters` are rotated.
ModelArchitecture read_cohere_compass(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_cohere(fields);
  model.qk_norm = QkNorm::kNone;
  model.logit_scale = fields.read_number_or("logit_scale", 1, 0, 1e6);
  read_attention_windows(fields, [](std::int64_t) { return false; }, 4096, model);
  const auto rope = fields.value("rope_parameters");
  const auto turns = [&](std::string_view type) {
    const auto numbers = rope ? rope->find(type) : std::nullopt;
    return numbers && numbers->is_mapping();
  };
  const bool full = turns("full_attention");
  const bool sliding = turns("sliding_attention");
  turn_off_rotary_outside_layers(model, [&](const LayerClass& layer, std::int64_t) {
    return layer.window > 0 ? sliding : full;
  });
  return model;
}

/// Reads Nemotron: LayerNorm with a bias multiplies by 1 + weight (`NemotronLayerNorm1P`).
ModelArchitecture read_nemotron(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_common_config_keys(
      fields, {.positions = 4096, .activation = ActivationFunction::kSquaredRelu});
  model.head_dim = head_dim(fields, model);
  model.rotary_fraction = fields.read_rotary_share_of_head(0.5);
  model.gated = false;
  model.norm = Norm::kLayer;
  model.norm_bias = model.norm_unit_offset = true;
  model.norm_epsilon = fields.read_number_or("norm_eps", 1e-5, 0, 1);
  add_llama_biases(fields, model);
  return model;
}

ModelArchitecture read_iquestcoder(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5, .head_dim = 128});
  add_llama_biases(fields, model);
  return model;
}

ModelArchitecture read_internlm3(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 32768, .kv_heads = 2, .norm_epsilon = 1e-5, .head_dim = 128});
  const bool all = fields.flag("bias", fields.flag("mlp_bias", false));
  model.qkv_bias = fields.flag("qkv_bias", fields.flag("attention_bias", false));
  model.attention_output_bias = model.mlp_bias = all;
  return model;
}

const ModelConfigFamily kDenseFamilies[] = {
    {"apertus", read_apertus, usual_model_config_keys(), 1.2e7},
    {"arcee", read_arcee, usual_model_config_keys()},
    {"cohere", read_cohere, usual_model_config_keys(), 5e5},
    {"cohere2", read_cohere2, usual_model_config_keys()},
    {"cohere_compass_text", read_cohere_compass, usual_model_config_keys()},
    {"cwm", read_cwm, usual_model_config_keys(), 1e6},
    {"ernie4_5", read_ernie, usual_model_config_keys(), 5e5},
    {"exaone4", read_exaone4, usual_model_config_keys()},
    {"glm", read_glm, usual_model_config_keys()},
    {"glm4", read_glm4, usual_model_config_keys()},
    {"granite", read_granite, usual_model_config_keys()},
    {"granite_swa", read_granite_swa, usual_model_config_keys()},
    {"helium", read_helium, usual_model_config_keys(), 1e5},
    {"hunyuan_v1_dense", read_hunyuan_dense, usual_model_config_keys()},
    {"hyperclovax", read_hyperclovax, usual_model_config_keys()},
    {"internlm3", read_internlm3, usual_model_config_keys()},
    {"iquestcoder", read_iquestcoder, usual_model_config_keys()},
    {"llama", read_llama, usual_model_config_keys()},
    {"ministral", read_ministral, usual_model_config_keys()},
    {"ministral3", read_ministral3, usual_model_config_keys(), 1e6},
    {"mistral", read_mistral, usual_model_config_keys()},
    {"nanochat", read_nanochat, usual_model_config_keys()},
    {"nemotron", read_nemotron, usual_model_config_keys()},
    {"olmo", read_olmo, usual_model_config_keys()},
    {"olmo2", read_olmo2, usual_model_config_keys()},
    {"olmo3", read_olmo3, usual_model_config_keys(), 5e5},
    {"phi3", read_phi3, usual_model_config_keys()},
    {"qwen2", read_qwen2, usual_model_config_keys()},
    {"qwen2_5_vl", read_qwen2_vl, usual_model_config_keys(), 1e6},
    {"qwen2_5_vl_text", read_qwen2_vl, usual_model_config_keys(), 1e6},
    {"qwen2_vl", read_qwen2_vl, usual_model_config_keys(), 1e6},
    {"qwen2_vl_text", read_qwen2_vl, usual_model_config_keys(), 1e6},
    {"qwen3_vl_text", read_qwen3_vl, usual_model_config_keys(), 5e5},
    {"qwen3", read_qwen3, usual_model_config_keys()},
    {"seed_oss", read_seed_oss, usual_model_config_keys()},
    {"smollm3", read_smollm3, usual_model_config_keys(), 2e6},
};

}  // namespace

std::span<const ModelConfigFamily> dense_model_families() { return kDenseFamilies; }

}  // namespace stepwright::model
