// Decoders with latent attention.
#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"

namespace stepwright {
namespace {

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

const ConfigFamily kLatentFamilies[] = {
    {"deepseek_v3", read_deepseek_v3, usual_names()},
};

}  // namespace

std::span<const ConfigFamily> latent_families() { return kLatentFamilies; }

}  // namespace stepwright
