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

/// `attention_bias` of all four projections.
void add_attention_biases(const ConfigFields& fields, Architecture& model) {
  model.qkv_bias = model.attention_output_bias = fields.flag("attention_bias", false);
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

const ConfigFamily kExpertFamilies[] = {
    {"dots1", read_dots1, usual_names()},
    {"flex_olmo", read_flex_olmo, usual_names(), 5e5},
    {"glm4_moe", read_glm4_moe, usual_names()},
    {"granitemoe", read_granitemoe, usual_names()},
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
