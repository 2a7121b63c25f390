// Decoders with experts and attention over grouped queries.
#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"

namespace stepwright {
namespace {

Architecture read_mixtral(const ConfigFields& fields) {
  Architecture model =
      read_rotary(fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5});
  model.experts = Experts{.count = fields.size_or("num_local_experts", 8),
                          .top_k = fields.size_or("num_experts_per_tok", 2),
                          .ffn = model.ffn};
  read_windows(fields, WindowRule::kEveryLayer, 0, model);
  return model;
}

Architecture read_qwen2_moe(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 32768, .kv_heads = 16});
  model.qkv_bias = fields.flag("qkv_bias", true);
  const std::int64_t shared = fields.size_or("shared_expert_intermediate_size", 5632, 0);
  read_qwen_experts(
      fields,
      {.count = 60, .top_k = 4, .ffn = 1408, .shared_ffn = shared, .shared_gate = shared > 0},
      model);
  read_windows(fields, WindowRule::kEvenLayersUntil, 4096, model);
  return model;
}

Architecture read_qwen3_moe(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 32768, .kv_heads = 4});
  add_qwen3_attention(fields, model);
  read_qwen_experts(fields, {.count = 128, .top_k = 8, .ffn = 768}, model);
  read_windows(fields, WindowRule::kSwitched, 4096, model);
  return model;
}

/// OLMo's experts: as wide as `intermediate_size`, a norm over all heads of queries and of keys.
void add_olmo_experts(const ConfigFields& fields, Experts fallback, Architecture& model) {
  model.qk_norm = QkNorm::kWhole;
  add_attention_biases(fields, model);
  const bool listed = fields.value("num_experts").has_value();
  fallback.count = fields.size_or(listed ? "num_experts" : "num_local_experts", fallback.count);
  fallback.top_k = fields.size_or("num_experts_per_tok", fallback.top_k);
  fallback.ffn = model.ffn;
  fallback.normalize_top_k = fields.flag("norm_topk_prob", false);
  model.experts = fallback;
}

Architecture read_olmoe(const ConfigFields& fields) {
  if (const auto clip = fields.value("clip_qkv")) {
    clip->fail_unsupported("clipped queries, keys and values");
  }
  Architecture model = read_rotary(fields, {.positions = 4096, .norm_epsilon = 1e-5});
  add_olmo_experts(fields, {.count = 64, .top_k = 8}, model);
  return model;
}

Architecture read_flex_olmo(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 4096});
  model.norm_placement = NormPlacement::kAfter;
  add_olmo_experts(fields, {.count = 7, .top_k = 5}, model);
  return model;
}

Architecture read_minimax_m2(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 196608, .kv_heads = 8, .head_dim = 128});
  if (const auto rotated = fields.value("rotary_dim")) {  // Released files say the share so.
    const auto share = static_cast<double>(rotated->integer(1, model.head_dim)) /
                       static_cast<double>(model.head_dim);
    model.rotary_fraction = fields.rotary_fraction(share);
  }
  model.qk_norm = QkNorm::kWhole;
  model.experts = Experts{.count = fields.size_or("num_local_experts", 256),
                          .top_k = fields.size_or("num_experts_per_tok", 8),
                          .ffn = model.ffn,
                          .correction_bias = true,
                          .scoring = Scoring::kSigmoid};
  return model;
}

Architecture read_granitemoe(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 2048});
  add_attention_biases(fields, model);
  add_granite_scales(fields, 1, model);
  model.experts = Experts{.count = fields.size_or("num_local_experts", 8),
                          .top_k = fields.size_or("num_experts_per_tok", 2),
                          .ffn = model.ffn};
  return model;
}

Architecture read_granitemoeshared(const ConfigFields& fields) {
  Architecture model = read_granitemoe(fields);
  model.experts->shared_ffn = fields.size_or("shared_intermediate_size", 0, 0);
  return model;
}

/// DeepSeek-V3's routing: sigmoids, a correction bias, groups, experts beside shared ones behind
/// the first dense layers. `fallback.shared_ffn` is the number of shared experts here.
void add_deepseek_routing(const ConfigFields& fields, Experts fallback, std::int64_t dense,
                          Architecture& model) {
  fallback.count = fallback.count > 0 ? fields.size_or("n_routed_experts", fallback.count)
                                      : fields.size({"n_routed_experts"});
  fallback.top_k = fallback.top_k > 0 ? fields.size_or("num_experts_per_tok", fallback.top_k)
                                      : fields.size({"num_experts_per_tok"});
  fallback.ffn = fields.size_or("moe_intermediate_size", 1408);
  fallback.shared_ffn = fallback.ffn * fields.size_or("n_shared_experts", fallback.shared_ffn, 0);
  fallback.normalize_top_k = fields.flag("norm_topk_prob", fallback.normalize_top_k);
  fallback.correction_bias = true;
  fallback.scoring = Scoring::kSigmoid;
  fallback.groups = fields.size_or("n_group", 1);
  fallback.top_groups = fields.size_or("topk_group", 1);
  fallback.scale = fields.number_or("routed_scaling_factor", 1, 0, 1e6);
  model.experts = fallback;
  const std::int64_t first = fields.size_or("first_k_dense_replace", dense, 0);
  mark_dense_layers(model, [first](std::int64_t layer) { return layer < first; });
}

Architecture read_dots1(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 2048, .kv_heads = 32});
  add_qwen3_attention(fields, model);
  add_deepseek_routing(fields, {.normalize_top_k = false}, 0, model);
  const std::int64_t full = fields.size_or("max_window_layers", 62, 0);
  read_windows(fields, [full](std::int64_t layer) { return layer >= full; }, 4096, model);
  return model;
}

Architecture read_glm4_moe(const ConfigFields& fields) {
  Architecture model =
      read_rotary(fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5});
  model.rotary_fraction = fields.rotary_fraction(0.5);
  model.qkv_bias = fields.flag("attention_bias", false);
  if (fields.flag("use_qk_norm", false)) model.qk_norm = QkNorm::kHead;
  add_deepseek_routing(fields, {.count = 128, .top_k = 8, .shared_ffn = 1}, 1, model);
  model.multi_token_layers = fields.size_or("num_nextn_predict_layers", 1, 0);
  return model;
}

/// A trained logit per head in every softmax, windows in three of four layers.
Architecture read_granitemoe_swa(const ConfigFields& fields) {
  Architecture model = read_granitemoeshared(fields);
  model.sinks = true;
  read_windows(fields, [](std::int64_t layer) { return layer % 4 != 0; }, 128, model);
  return model;
}

/// LayerNorm with biases.
Architecture read_phimoe(const ConfigFields& fields) {
  Architecture model =
      read_rotary(fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5});
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  add_attention_biases(fields, model);
  model.head_bias = fields.flag("lm_head_bias", false);
  model.experts = Experts{.count = fields.size_or("num_local_experts", 16),
                          .top_k = 2,
                          .ffn = model.ffn,
                          .normalize_top_k = false};
  if (fields.size_or("num_experts_per_tok", 2) != 2) {
    fields.value("num_experts_per_tok")->fail_unsupported("a number but 2: its router takes two");
  }
  read_windows(fields, WindowRule::kEveryLayer, 0, model);
  return model;
}

/// Which layers are dense by the words of `mlp_layer_types`, or the first ones.
void mark_listed_dense(const ConfigFields& fields, std::int64_t first, Architecture& model) {
  const auto types = fields.value("mlp_layer_types");
  if (!types) return mark_dense_layers(model, [&](std::int64_t layer) { return layer < first; });
  if (types->size() != static_cast<std::size_t>(model.layers)) {
    types->fail("must have one entry per layer");
  }
  mark_dense_layers(model, [&](std::int64_t layer) {
    return types->at(static_cast<std::size_t>(layer)).text() == "dense";
  });
}

/// Routing of DeepSeek-V3 under the names of Qwen; `shared` experts beside.
Experts sigmoid_experts(const ConfigFields& fields, Experts fallback, std::int64_t shared) {
  fallback.count = fields.size_or(fields.value("num_experts") ? "num_experts" : "num_local_experts",
                                  fallback.count);
  fallback.top_k = fields.size_or("num_experts_per_tok", fallback.top_k);
  fallback.ffn = fields.size_or("moe_intermediate_size", fallback.ffn);
  fallback.shared_ffn = fallback.ffn * fields.size_or("num_shared_experts", shared, 0);
  fallback.correction_bias = true;
  fallback.scoring = Scoring::kSigmoid;
  fallback.normalize_top_k = fields.flag("norm_topk_prob", true);
  fallback.groups = fields.size_or("n_group", 1);
  fallback.top_groups = fields.size_or("topk_group", 1);
  return fallback;
}

Architecture read_exaone_moe(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 2048, .norm_epsilon = 1e-5});
  model.qk_norm = QkNorm::kHead;
  model.experts = sigmoid_experts(fields, {.count = 64, .top_k = 8, .ffn = 1024}, 1);
  model.experts->scale = fields.number_or("routed_scaling_factor", 2.5, 0, 1e6);
  mark_listed_dense(fields, fields.size_or("first_k_dense_replace", 1, 0), model);
  const std::int64_t every = fields.size_or("sliding_window_pattern", 4);
  read_windows(fields, all_but_last_of(every), 4096, model);
  rotate_windows_alone(model);
  return model;
}

Architecture read_hy_v3(const ConfigFields& fields) {
  Architecture model = read_rotary(
      fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5, .head_dim = 128});
  add_qwen3_attention(fields, model);
  model.experts = sigmoid_experts(fields, {.count = 192, .top_k = 8, .ffn = 1536}, 1);
  model.experts->scale = fields.number_or("router_scaling_factor", 2.826, 0, 1e6);
  mark_listed_dense(fields, 1, model);
  fields.refuse("mlp_bias", "biases of the MLPs");
  return model;
}

/// gpt-oss: biases everywhere, sinks, every other layer with a window.
Architecture read_gpt_oss(const ConfigFields& fields) {
  Architecture model = read_rotary(
      fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5, .head_dim = 64});
  model.activation = Activation::kClampedSwiglu;
  add_attention_biases(fields, model, true);
  model.sinks = true;
  model.experts = Experts{.count = fields.size_or("num_local_experts", 128),
                          .top_k = fields.size_or("num_experts_per_tok", 4),
                          .ffn = model.ffn,
                          .bias = true,
                          .router_bias = true};
  read_windows(fields, [](std::int64_t layer) { return layer % 2 == 0; }, 128, model);
  return model;
}

const ConfigFamily kExpertFamilies[] = {
    {"dots1", read_dots1, usual_names()},
    {"flex_olmo", read_flex_olmo, usual_names(), 5e5},
    {"glm4_moe", read_glm4_moe, usual_names()},
    {"granitemoe", read_granitemoe, usual_names()},
    {"exaone_moe", read_exaone_moe, usual_names()},
    {"gpt_oss", read_gpt_oss, usual_names(), 150000},
    {"granitemoe_swa", read_granitemoe_swa, usual_names()},
    {"hy_v3", read_hy_v3, usual_names(), 11158840},
    {"phimoe", read_phimoe, usual_names(), 1e6},
    {"granitemoeshared", read_granitemoeshared, usual_names()},
    {"minimax_m2", read_minimax_m2, usual_names(), 5e6},
    {"mixtral", read_mixtral, usual_names(), 1e6},
    {"olmoe", read_olmoe, usual_names()},
    {"qwen2_moe", read_qwen2_moe, usual_names()},
    {"qwen3_moe", read_qwen3_moe, usual_names()},
};

}  // namespace

std::span<const ConfigFamily> expert_families() { return kExpertFamilies; }

}  // namespace stepwright
