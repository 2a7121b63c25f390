// Readers of decoders with latent attention.
#include <cmath>

#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_experts.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"

namespace stepwright::model {
namespace {

/// Reads DeepSeek's router. By default, as in DeepseekV3Config, sigmoid scores with a correction
/// bias choose among the best groups of experts. A `topk_method` of `greedy` has neither bias nor
/// groups.
void read_deepseek_router(const ConfigJsonReader& fields, MixtureOfExperts& experts) {
  const auto method = fields.value("topk_method");
  const std::string word = method ? method->text() : "noaux_tc";
  const auto scoring = fields.value("scoring_func");
  experts.correction_bias = word == "noaux_tc";
  const bool sigmoid = experts.correction_bias || (scoring && scoring->text() == "sigmoid");
  experts.scoring = sigmoid ? RouterScoring::kSigmoid : RouterScoring::kSoftmax;
  experts.normalize_top_k = fields.flag("norm_topk_prob", true);
  experts.scale = fields.read_number_or("routed_scaling_factor", 2.5, 0, 1e6);
  if (word == "greedy") return;
  experts.groups = fields.size_or_default("n_group", 8);
  experts.top_groups = fields.size_or_default("topk_group", 4);
}

/// Reads DeepSeek's experts. `n_routed_experts: null`, as in published files, means no experts.
void read_deepseek_experts(const ConfigJsonReader& fields, ModelArchitecture& model) {
  const auto count = fields.find({"n_routed_experts", "num_local_experts"});
  if (count && count->is_null()) return;
  MixtureOfExperts experts{.count = count ? count->integer(1, kMaxModelDimension) : 256,
                           .top_k = fields.size_or_default("num_experts_per_tok", 8),
                           .ffn = fields.size_or_default("moe_intermediate_size", 2048)};
  const auto shared = fields.find({"n_shared_experts"});
  const bool none = shared && shared->is_null();
  const std::int64_t shared_count = none     ? 0
                                    : shared ? shared->integer(0, kMaxModelDimension / experts.ffn)
                                             : 1;
  experts.shared_ffn = shared_count * experts.ffn;
  read_deepseek_router(fields, experts);
  model.experts = experts;
  const std::int64_t first = fields.size_or_default("first_k_dense_replace", 3, 0);
  const std::int64_t every = fields.size_or_default("moe_layer_freq", 1);
  replace_experts_by_dense_mlp(
      model, [&](std::int64_t layer) { return layer < first || layer % every != 0; });
}

struct LatentDefaults {
  std::int64_t positions = 4096;
  double norm_epsilon = 1e-6;
  bool tied = false;
  /// Default sizes of latent attention; a `value_head_dim` of 0 means hidden / heads.
  LatentAttention latent = {.query_rank = 1536};
};

/// Reads latent attention and dense MLPs.
ModelArchitecture read_latent_model(const ConfigJsonReader& fields,
                                    const LatentDefaults& defaults) {
  fields.refuse_model_if_flag_is_true("attention_bias", "biases in latent attention");
  ModelArchitecture model = read_common_config_keys(fields, {.positions = defaults.positions,
                                                             .norm_epsilon = defaults.norm_epsilon,
                                                             .tied = defaults.tied});
  // Latent attention has no groups of queries: the key num_key_value_heads has no effect.
  model.kv_heads = model.heads;
  fields.mark_config_keys_used({"head_dim", "qk_head_dim", "rope_interleave"});
  LatentAttention latent;
  const auto query_rank = fields.find({"q_lora_rank"});
  latent.query_rank = query_rank && query_rank->is_null()
                          ? 0
                          : fields.size_or_default("q_lora_rank", defaults.latent.query_rank);
  latent.kv_rank = fields.size_or_default("kv_lora_rank", defaults.latent.kv_rank);
  latent.nope_head_dim = fields.size_or_default("qk_nope_head_dim", defaults.latent.nope_head_dim);
  latent.rope_head_dim = fields.size_or_default("qk_rope_head_dim", defaults.latent.rope_head_dim);
  const std::int64_t value_head_dim = defaults.latent.value_head_dim;
  latent.value_head_dim = fields.size_or_default(
      "v_head_dim", value_head_dim > 0 ? value_head_dim : model.hidden / model.heads);
  model.head_dim = latent.nope_head_dim + latent.rope_head_dim;
  model.latent = latent;
  // The norms of latent rows keep the default epsilon of transformers' norm class.
  constexpr double kInner = 1e-6;
  if (model.norm_epsilon != kInner) model.inner_norm_epsilon = kInner;
  return model;
}

ModelArchitecture read_deepseek_v3(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_latent_model(fields, {});
  model.multi_token_layers =
      fields.size_or_default({"num_nextn_predict_layers", "num_mtp_layers"}, 1, 0);
  read_deepseek_experts(fields, model);
  return model;
}

/// Reads DeepSeek-V2, whose router takes a softmax over all experts; if the file says so, it first
/// chooses groups of experts.
ModelArchitecture read_deepseek_v2(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_latent_model(fields, {.positions = 2048});
  model.mlp_bias = fields.flag("mlp_bias", false);
  if (model.mlp_bias) fields.value("mlp_bias")->fail_unsupported("biases of the MLPs");
  MixtureOfExperts experts{.count = fields.size_or_default({"n_routed_experts", "num_experts"}, 64),
                           .top_k = fields.size({"num_experts_per_tok"}),
                           .ffn = fields.size_or_default("moe_intermediate_size", 1407),
                           .normalize_top_k = fields.flag("norm_topk_prob", false),
                           .groups = fields.size_or_default("n_group", 1),
                           .top_groups = fields.size_or_default("topk_group", 1),
                           .scale = fields.read_number_or("routed_scaling_factor", 1, 0, 1e6)};
  experts.shared_ffn = experts.ffn * fields.size_or_default("n_shared_experts", 2, 0);
  model.experts = experts;
  const std::int64_t first = fields.size_or_default("first_k_dense_replace", 0, 0);
  replace_experts_by_dense_mlp(model, [&](std::int64_t layer) { return layer < first; });
  return model;
}

ModelArchitecture read_glm4_moe_lite(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_latent_model(
      fields, {.positions = 202752,
               .norm_epsilon = 1e-5,
               .latent = {.query_rank = 768, .nope_head_dim = 192, .value_head_dim = 256}});
  model.experts =
      read_sigmoid_routed_experts(fields, {.count = 64, .top_k = 4, .ffn = 1536, .scale = 1.8}, 1);
  replace_experts_in_listed_dense_layers(fields, 1, model);
  return model;
}

/// Adds an indexer to every layer (DeepSeek-V3.2, GLM-5).
void add_indexer(const ConfigJsonReader& fields, std::int64_t heads, ModelArchitecture& model) {
  if (model.latent->query_rank == 0) {
    fields.value("q_lora_rank")->fail("must be a rank: an indexer reads the rows of queries");
  }
  model.latent->index_heads = fields.size_or_default("index_n_heads", heads);
  model.latent->index_head_dim = fields.size_or_default("index_head_dim", 128);
  model.latent->index_top_k = fields.size_or_default("index_topk", 2048);
  if (const auto types = fields.value("layer_types")) {
    check_one_entry_per_layer(*types, model);
    static_cast<void>(listed_layer_classes(*types, {{"indexed_attention", {}}}));
  }
}

/// Adds the experts of DeepSeek-V3 to all layers after three dense ones.
void add_v3_experts(const ConfigJsonReader& fields, MixtureOfExperts fallback,
                    ModelArchitecture& model) {
  model.mlp_bias = fields.flag("mlp_bias", false);
  if (model.mlp_bias) fields.value("mlp_bias")->fail_unsupported("biases of the MLPs");
  fallback.count = 256;
  fallback.top_k = 8;
  fallback.ffn = 2048;
  fallback.scale = 2.5;
  model.experts = read_sigmoid_routed_experts(fields, fallback, 1);
  replace_experts_in_listed_dense_layers(
      fields, fields.size_or_default("first_k_dense_replace", 3, 0), model);
  model.multi_token_layers = fields.size_or_default("num_nextn_predict_layers", 0, 0);
}

ModelArchitecture read_deepseek_v32(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_latent_model(fields, {.positions = 163840});
  add_v3_experts(fields, {.groups = 8, .top_groups = 4}, model);
  add_indexer(fields, 64, model);
  return model;
}

ModelArchitecture read_glm_moe_dsa(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_latent_model(
      fields, {.positions = 202752,
               .norm_epsilon = 1e-5,
               .latent = {.query_rank = 2048, .nope_head_dim = 192, .value_head_dim = 256}});
  add_v3_experts(fields, {}, model);
  add_indexer(fields, 32, model);
  for (const std::string_view key : {"index_topk_pattern", "index_topk_freq"}) {
    const auto found = fields.value(key);
    if (found && found->text() != "1") found->fail_unsupported("indexers that layers share");
  }
  if (const auto types = fields.value("indexer_types")) {
    check_one_entry_per_layer(*types, model);
    static_cast<void>(listed_layer_classes(*types, {{"full", {}}}));
  }
  return model;
}

ModelArchitecture read_youtu(const ConfigJsonReader& fields) {
  return read_latent_model(fields, {.positions = 131072, .tied = true});
}

/// Reads MiniCPM3, which scales embedded tokens, branches and logits (muP).
ModelArchitecture read_minicpm3(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_latent_model(fields, {.positions = 32768,
                                                       .norm_epsilon = 1e-5,
                                                       .tied = true,
                                                       .latent = {.query_rank = 768,
                                                                  .kv_rank = 256,
                                                                  .nope_head_dim = 64,
                                                                  .rope_head_dim = 32,
                                                                  .value_head_dim = 0}});
  model.mlp_bias = fields.flag("mlp_bias", false);
  constexpr double kLargestScale = 1e6;
  model.embedding_scale = fields.read_number_or("scale_emb", 12, 0, kLargestScale);
  model.residual_scale = fields.read_number_or("scale_depth", 1.4, 0, kLargestScale) /
                         std::sqrt(static_cast<double>(model.layers));
  model.logit_scale = static_cast<double>(fields.size_or_default("dim_model_base", 256)) /
                      static_cast<double>(model.hidden);
  return model;
}

const ModelConfigFamily kLatentFamilies[] = {
    {"deepseek_v2", read_deepseek_v2, usual_model_config_keys()},
    {"deepseek_v3", read_deepseek_v3, usual_model_config_keys()},
    {"deepseek_v32", read_deepseek_v32, usual_model_config_keys()},
    {"glm4_moe_lite", read_glm4_moe_lite, usual_model_config_keys()},
    {"glm_moe_dsa", read_glm_moe_dsa, usual_model_config_keys()},
    {"minicpm3", read_minicpm3, usual_model_config_keys()},
    {"youtu", read_youtu, usual_model_config_keys()},
};

}  // namespace

std::span<const ModelConfigFamily> latent_attention_families() { return kLatentFamilies; }

}  // namespace stepwright::model
