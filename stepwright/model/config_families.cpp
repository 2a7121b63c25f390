#include "stepwright/model/config_families.h"

#include <fmt/format.h>

#include "stepwright/model/config_layers.h"

namespace stepwright {
namespace {

constexpr FieldName kNames[] = {{"layers", "num_hidden_layers"},
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

constexpr FieldName kGpt2Names[] = {{"layers", "n_layer"},       {"hidden", "n_embd"},
                                    {"heads", "n_head"},         {"kv_heads", "n_head"},
                                    {"ffn", "n_inner"},          {"vocab", "vocab_size"},
                                    {"positions", "n_positions"}};

/// `num_key_value_heads`: null is all heads; absent is the class default, 0 for all heads.
std::int64_t kv_heads(const ConfigFields& fields, std::int64_t heads, std::int64_t fallback) {
  const auto found = fields.find({"num_key_value_heads"});
  if (found && !found->is_null()) return found->integer(1, kLargestSize);
  return found || fallback == 0 ? heads : fallback;
}

std::int64_t head_dim(const ConfigFields& fields, const Architecture& model) {
  if (const auto given = fields.value("head_dim")) return given->integer(1, kLargestSize);
  if (model.hidden % model.heads != 0) {
    fields.fail(
        fmt::format("hidden_size ({}) is not a multiple of num_attention_heads ({}), and "
                    "there is no head_dim",
                    model.hidden, model.heads));
  }
  return model.hidden / model.heads;
}

struct Defaults {
  std::int64_t positions = 0;
  std::int64_t kv_heads = 0;  ///< 0: all heads.
  double norm_epsilon = 1e-6;
};

/// RMSNorm, a gated MLP, rotary positions, grouped queries: all families but GPT's and NeoX's.
Architecture read_common(const ConfigFields& fields, Defaults defaults) {
  Architecture model;
  model.layers = fields.size({"num_hidden_layers"}, kLargestLayers);
  model.hidden = fields.size({"hidden_size"});
  model.heads = fields.size({"num_attention_heads"});
  model.kv_heads = kv_heads(fields, model.heads, defaults.kv_heads);
  model.ffn = fields.size({"intermediate_size"});
  model.vocabulary = fields.size({"vocab_size"});
  model.positions = fields.size_or("max_position_embeddings", defaults.positions);
  model.activation = fields.activation("hidden_act", Activation::kSilu);
  model.norm_epsilon = fields.number_or("rms_norm_eps", defaults.norm_epsilon, 0, 1);
  model.tied = fields.tied(false);
  return model;
}

Architecture read_rotary(const ConfigFields& fields, Defaults defaults) {
  Architecture model = read_common(fields, defaults);
  model.head_dim = head_dim(fields, model);
  model.rotary_fraction = fields.rotary_fraction(1);
  return model;
}

Architecture read_llama(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 2048});
  model.qkv_bias = model.attention_output_bias = fields.flag("attention_bias", false);
  model.mlp_bias = fields.flag("mlp_bias", false);
  return model;
}

Architecture read_mistral(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 131072, .kv_heads = 8});
  read_windows(fields, WindowRule::kEveryLayer, 4096, model);
  return model;
}

Architecture read_mixtral(const ConfigFields& fields) {
  Architecture model =
      read_rotary(fields, {.positions = 131072, .kv_heads = 8, .norm_epsilon = 1e-5});
  model.experts = Experts{.count = fields.size_or("num_local_experts", 8),
                          .top_k = fields.size_or("num_experts_per_tok", 2),
                          .ffn = model.ffn};
  read_windows(fields, WindowRule::kEveryLayer, 0, model);
  return model;
}

Architecture read_qwen2(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 32768, .kv_heads = 32});
  model.qkv_bias = true;
  read_windows(fields, WindowRule::kFromLayer, 4096, model);
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

void add_qwen3_attention(const ConfigFields& fields, Architecture& model) {
  model.qk_norm = QkNorm::kHead;
  model.qkv_bias = model.attention_output_bias = fields.flag("attention_bias", false);
}

Architecture read_qwen3(const ConfigFields& fields) {
  Architecture model = read_common(fields, {.positions = 32768, .kv_heads = 32});
  model.head_dim = fields.find({"head_dim"}) ? head_dim(fields, model) : 128;
  model.rotary_fraction = fields.rotary_fraction(1);
  add_qwen3_attention(fields, model);
  read_windows(fields, WindowRule::kFromLayer, 4096, model);
  return model;
}

Architecture read_qwen3_moe(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 32768, .kv_heads = 4});
  add_qwen3_attention(fields, model);
  read_qwen_experts(fields, {.count = 128, .top_k = 8, .ffn = 768}, model);
  read_windows(fields, WindowRule::kSwitched, 4096, model);
  return model;
}

/// The published files have `n_routed_experts: null` for a model without experts.
void read_deepseek_experts(const ConfigFields& fields, Architecture& model) {
  const auto count = fields.find({"n_routed_experts", "num_local_experts"});
  if (count && count->is_null()) return;
  Experts experts{.count = count ? count->integer(1, kLargestSize) : 256,
                  .top_k = fields.size_or("num_experts_per_tok", 8),
                  .ffn = fields.size_or("moe_intermediate_size", 2048)};
  const auto shared = fields.find({"n_shared_experts"});
  const bool none = shared && shared->is_null();
  const std::int64_t shared_count = none     ? 0
                                    : shared ? shared->integer(0, kLargestSize / experts.ffn)
                                             : 1;
  experts.shared_ffn = shared_count * experts.ffn;
  const auto method = fields.value("topk_method");
  experts.correction_bias = !method || method->text() == "noaux_tc";
  experts.normalize_top_k = fields.flag("norm_topk_prob", true);
  model.experts = experts;
  const std::int64_t first = fields.size_or("first_k_dense_replace", 3, 0);
  const std::int64_t every = fields.size_or("moe_layer_freq", 1);
  mark_dense_layers(model, [&](std::int64_t layer) { return layer < first || layer % every != 0; });
}

Architecture read_deepseek_v3(const ConfigFields& fields) {
  fields.refuse("attention_bias", "biases in latent attention");
  Architecture model = read_common(fields, {.positions = 4096});
  model.kv_heads = model.heads;  // The low rank takes the place of groups; the key has no effect.
  LatentAttention latent;
  const auto query_rank = fields.find({"q_lora_rank"});
  latent.query_rank = query_rank && query_rank->is_null() ? 0 : fields.size_or("q_lora_rank", 1536);
  latent.kv_rank = fields.size_or("kv_lora_rank", 512);
  latent.nope_head_dim = fields.size_or("qk_nope_head_dim", 128);
  latent.rope_head_dim = fields.size_or("qk_rope_head_dim", 64);
  latent.value_head_dim = fields.size_or("v_head_dim", 128);
  model.head_dim = latent.nope_head_dim + latent.rope_head_dim;
  model.latent = latent;
  model.multi_token_layers = fields.size_or("num_nextn_predict_layers", 0, 0);
  read_deepseek_experts(fields, model);
  return model;
}

/// The blocks that GPT-2 and GPT-NeoX share.
Architecture gpt_blocks() {
  Architecture model;
  model.gated = false;
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = true;
  return model;
}

Architecture read_gpt2(const ConfigFields& fields) {
  fields.refuse("add_cross_attention", "cross attention");
  if (!fields.flag("scale_attn_weights", true)) {
    fields.value("scale_attn_weights")->fail_unsupported("attention scores that are not scaled");
  }
  fields.refuse("scale_attn_by_inverse_layer_idx", "attention scaled by the layer's number");
  Architecture model = gpt_blocks();
  model.layers = fields.size({"n_layer", "num_hidden_layers"}, kLargestLayers);
  model.hidden = fields.size({"n_embd", "hidden_size"});
  model.heads = model.kv_heads = fields.size({"n_head", "num_attention_heads"});
  if (model.hidden % model.heads != 0) {
    fields.fail(
        fmt::format("n_embd ({}) is not a multiple of n_head ({})", model.hidden, model.heads));
  }
  model.head_dim = model.hidden / model.heads;
  model.ffn = fields.size_or("n_inner", 4 * model.hidden);
  model.vocabulary = fields.size({"vocab_size"});
  model.positions = fields.size({"n_positions", "max_position_embeddings"});
  model.position = Position::kLearned;
  model.activation = fields.activation("activation_function", Activation::kGeluTanh);
  model.norm_epsilon = fields.number_or("layer_norm_epsilon", 1e-5, 0, 1);
  model.tied = fields.tied(true);
  return model;
}

Architecture read_gpt_neox(const ConfigFields& fields) {
  const Architecture sizes = read_common(fields, {.positions = 2048});
  Architecture model = gpt_blocks();
  model.layers = sizes.layers;
  model.hidden = sizes.hidden;
  model.heads = model.kv_heads = sizes.heads;
  model.head_dim = head_dim(fields, sizes);
  model.ffn = sizes.ffn;
  model.vocabulary = sizes.vocabulary;
  model.positions = sizes.positions;
  model.activation = fields.activation("hidden_act", Activation::kGelu);
  model.norm_epsilon = fields.number_or("layer_norm_eps", 1e-5, 0, 1);
  model.rotary_fraction = fields.rotary_fraction(0.25);
  model.parallel_residual = fields.flag("use_parallel_residual", true);
  model.qkv_bias = model.attention_output_bias = fields.flag("attention_bias", true);
  model.tied = sizes.tied;
  return model;
}

constexpr ConfigFamily kFamilies[] = {
    {"deepseek_v3", read_deepseek_v3, kNames},
    {"gpt2", read_gpt2, kGpt2Names},
    {"gpt_neox", read_gpt_neox, kNames},
    {"llama", read_llama, kNames},
    {"mistral", read_mistral, kNames},
    {"mixtral", read_mixtral, kNames, 1e6},
    {"qwen2", read_qwen2, kNames},
    {"qwen2_moe", read_qwen2_moe, kNames},
    {"qwen3", read_qwen3, kNames},
    {"qwen3_moe", read_qwen3_moe, kNames},
};

}  // namespace

std::span<const ConfigFamily> config_families() { return kFamilies; }

}  // namespace stepwright
