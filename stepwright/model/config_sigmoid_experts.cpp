// Readers of decoders with experts whose router takes sigmoids (DeepSeek-V3).
#include <cmath>

#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_experts.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"

namespace stepwright::model {
namespace {

constexpr double kLargestScale = 1e6;

/// Makes the first `first_k_dense_replace` layers dense; the others have experts.
void mark_first_dense(const ConfigJsonReader& fields, std::int64_t fallback,
                      ModelArchitecture& model) {
  const std::int64_t first = fields.size_or_default("first_k_dense_replace", fallback, 0);
  replace_experts_by_dense_mlp(model, [first](std::int64_t layer) { return layer < first; });
}

ModelArchitecture read_minimax_m2(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 196608, .kv_heads = 8, .head_dim = 128});
  // Released files state the rotated share by this key.
  if (const auto rotated = fields.value("rotary_dim")) {
    const auto share = static_cast<double>(rotated->integer(1, model.head_dim)) /
                       static_cast<double>(model.head_dim);
    model.rotary_fraction = share;
  }
  model.rotary_fraction = fields.read_rotary_share_of_head(model.rotary_fraction);
  model.qk_norm = QkNorm::kWhole;
  model.experts =
      MixtureOfExperts{.count = fields.size_or_default({"num_local_experts", "num_experts"}, 256),
                       .top_k = fields.size_or_default("num_experts_per_tok", 8),
                       .ffn = model.ffn,
                       .correction_bias = true,
                       .scoring = RouterScoring::kSigmoid};
  return model;
}

ModelArchitecture read_dots1(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 2048, .kv_heads = 32});
  set_qwen3_attention(fields, model);
  model.experts = read_sigmoid_routed_experts(fields, {.ffn = 1408, .normalize_top_k = false}, 0);
  mark_first_dense(fields, 0, model);
  const std::int64_t full = fields.size_or_default("max_window_layers", 62, 0);
  read_attention_windows(fields, [full](std::int64_t layer) { return layer >= full; }, 4096, model);
  return model;
}

ModelArchitecture read_glm4_moe(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5});
  model.rotary_fraction = fields.read_rotary_share_of_head(0.5);
  model.qkv_bias = fields.flag("attention_bias", false);
  if (fields.flag("use_qk_norm", false)) model.qk_norm = QkNorm::kHead;
  model.experts = read_sigmoid_routed_experts(fields, {.count = 128, .top_k = 8, .ffn = 1408}, 1);
  mark_first_dense(fields, 1, model);
  model.multi_token_layers =
      fields.size_or_default({"num_nextn_predict_layers", "num_mtp_layers"}, 1, 0);
  return model;
}

/// Reads Exaone's MoE: experts replace dense MLPs, and only layers with a window are rotated.
ModelArchitecture read_exaone_moe(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 2048, .norm_epsilon = 1e-5});
  model.qk_norm = QkNorm::kHead;
  model.experts =
      read_sigmoid_routed_experts(fields, {.count = 64, .top_k = 8, .ffn = 1024, .scale = 2.5}, 1);
  replace_experts_in_listed_dense_layers(
      fields, fields.size_or_default("first_k_dense_replace", 1, 0), model);
  const std::int64_t every = fields.size_or_default("sliding_window_pattern", 4);
  read_attention_windows(fields, all_layers_but_every_nth(every), 4096, model);
  drop_rotary_without_window(fields, model);
  return model;
}

ModelArchitecture read_hy_v3(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5, .head_dim = 128});
  set_qwen3_attention(fields, model);
  model.experts = read_sigmoid_routed_experts(fields, {.count = 192, .top_k = 8, .ffn = 1536}, 1);
  model.experts->scale = fields.read_number_or("router_scaling_factor", 2.826, 0, kLargestScale);
  replace_experts_in_listed_dense_layers(fields, 1, model);
  fields.refuse_model_if_flag_is_true("mlp_bias", "biases of the MLPs");
  return model;
}

ModelArchitecture read_solar_open(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 131072,
                                                           .kv_heads = 8,
                                                           .norm_epsilon = 1e-5,
                                                           .head_dim = 128,
                                                           .only_experts = true});
  model.rotary_fraction = fields.read_rotary_share_of_head(1);
  model.qkv_bias = fields.flag("attention_bias", false);
  model.experts = read_sigmoid_routed_experts(fields, {.count = 128, .top_k = 8, .ffn = 1280}, 1);
  return model;
}

ModelArchitecture read_kolibri(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(
      fields, {.positions = 262144, .kv_heads = 4, .head_dim = 128, .only_experts = true});
  model.qk_norm = QkNorm::kHead;
  model.norm_placement = NormPlacement::kBoth;
  model.experts = read_sigmoid_routed_experts(
      fields, {.count = 384, .top_k = 6, .ffn = 512, .normalize_top_k = false}, 0);
  model.experts->shared_ffn = fields.size_or_default("shared_expert_intermediate_size", 512);
  model.experts->scale = 1;
  read_attention_windows(fields, all_layers_but_every_nth(5), 513, model);
  drop_rotary_without_window(fields, model);
  return model;
}

/// Reads Flint: the first two layers, every fourth and the last see the whole sequence and have no
/// rotary positions.
ModelArchitecture read_flint(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 262144, .kv_heads = 4, .head_dim = 128});
  set_qwen3_attention(fields, model);
  model.sinks = true;
  const std::int64_t shared = fields.size_or_default("shared_expert_intermediate_size", 1024);
  read_qwen_experts(fields, {.count = 256, .top_k = 6, .ffn = 512, .shared_ffn = shared}, model);
  if (model.experts) {
    model.experts->scoring = RouterScoring::kSigmoid;
    model.experts->normalize_top_k = fields.flag("norm_topk_prob", true);
  }
  if (!fields.value("mlp_only_layers")) {
    replace_experts_by_dense_mlp(model, [](std::int64_t layer) { return layer < 2; });
  }
  const std::int64_t last = model.layers - 1;
  read_attention_windows(
      fields, [=](std::int64_t i) { return i >= 2 && i % 4 != 1 && i != last; }, 513, model);
  drop_rotary_without_window(fields, model);
  return model;
}

/// Reads AFMoE: norms before and after each branch, gated attention, windows in all but every
/// fourth layer.
ModelArchitecture read_afmoe(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 16384, .norm_epsilon = 1e-5, .head_dim = 128});
  model.qk_norm = QkNorm::kHead;
  fields.refuse_model_if_flag_is_true("attention_bias", "biases beside gates that have none");
  model.norm_placement = NormPlacement::kBoth;
  model.attention_gate = true;
  if (fields.flag("mup_enabled", false)) {
    model.embedding_scale = std::sqrt(static_cast<double>(model.hidden));
  }
  model.experts = read_sigmoid_routed_experts(fields, {.count = 64, .top_k = 6, .ffn = 1408}, 2);
  model.experts->scale = fields.read_number_or("route_scale", 1, 0, kLargestScale);
  const std::int64_t first = fields.size_or_default("num_dense_layers", 1, 0);
  replace_experts_by_dense_mlp(model, [first](std::int64_t layer) { return layer < first; });
  read_attention_windows(
      fields, all_layers_but_every_nth(fields.size_or_default("global_attn_every_n_layers", 4)),
      1024, model);
  drop_rotary_without_window(fields, model);
  return model;
}

/// Reads MiniMax-M3: gpt-oss's clamped gates. Only layers with full attention are supported, not
/// those that its indexer thins out.
ModelArchitecture read_minimax_m3(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_common_config_keys(fields, {.positions = 524288, .kv_heads = 4});
  model.head_dim = head_dim(fields, model, 128);
  model.rotary_fraction =
      fields.read_rotary_share_of_head(1);  // transformers ignores `rotary_dim` here.
  model.norm_unit_offset = true;
  model.qk_norm = QkNorm::kHead;
  model.activation = ActivationFunction::kClampedSwiglu;
  note_unusual_gate_clamp(fields, model);
  model.experts = read_sigmoid_routed_experts(
      fields, {.count = 128, .top_k = 4, .ffn = model.ffn, .scale = 2}, 0);
  model.experts->ffn = model.ffn;
  model.experts->shared_ffn = fields.size_or_default("shared_intermediate_size", 3072);
  model.ffn = fields.size_or_default("dense_intermediate_size", 12288);
  replace_experts_in_listed_dense_layers(fields, 0, model);
  if (const auto types = fields.value("layer_types")) {
    check_one_entry_per_layer(*types, model);
    static_cast<void>(listed_layer_classes(*types, {{"full_attention", {}}}));
  }
  return model;
}

/// Reads Beam: gates with a bias per head; every sixth layer and the last see the whole sequence.
ModelArchitecture read_beam(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 8192, .kv_heads = 8, .head_dim = 128});
  model.qk_norm = QkNorm::kHead;
  fields.refuse_model_if_flag_is_true("attention_bias", "biases beside gates that have their own");
  model.norm_placement = NormPlacement::kBoth;
  model.attention_gate = model.gate_bias = true;
  model.logit_cap = fields.read_logit_soft_cap("final_logit_softcapping", 30);
  model.experts = read_sigmoid_routed_experts(
      fields, {.count = 256, .top_k = 8, .ffn = 2560, .groups = 8, .top_groups = 4, .scale = 2.5},
      0);
  replace_experts_in_listed_dense_layers(fields, 3, model);
  const std::int64_t last = model.layers - 1;
  read_attention_windows(
      fields, [last](std::int64_t i) { return (i + 1) % 6 != 0 && i != last; }, 512, model);
  drop_rotary_without_window(fields, model);
  add_uncounted_model_part("queries are scaled by their position in layers that are not rotated",
                           model);
  return model;
}

const ModelConfigFamily kSigmoidFamilies[] = {
    {"afmoe", read_afmoe, usual_model_config_keys()},
    {"beam", read_beam, usual_model_config_keys()},
    {"dots1", read_dots1, usual_model_config_keys()},
    {"exaone_moe", read_exaone_moe, usual_model_config_keys()},
    {"flint", read_flint, usual_model_config_keys()},
    {"glm4_moe", read_glm4_moe, usual_model_config_keys()},
    {"hy_v3", read_hy_v3, usual_model_config_keys(), 11158840},
    {"kolibri1", read_kolibri, usual_model_config_keys()},
    {"minimax_m2", read_minimax_m2, usual_model_config_keys(), 5e6},
    {"minimax_m3_vl_text", read_minimax_m3, usual_model_config_keys(), 5e6},
    {"solar_open", read_solar_open, usual_model_config_keys(), 1e6},
};

}  // namespace

std::span<const ModelConfigFamily> sigmoid_router_model_families() { return kSigmoidFamilies; }

}  // namespace stepwright::model
