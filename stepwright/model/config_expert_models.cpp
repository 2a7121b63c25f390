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

const ConfigFamily kExpertFamilies[] = {
    {"mixtral", read_mixtral, usual_names(), 1e6},
    {"qwen2_moe", read_qwen2_moe, usual_names()},
    {"qwen3_moe", read_qwen3_moe, usual_names()},
};

}  // namespace

std::span<const ConfigFamily> expert_families() { return kExpertFamilies; }

}  // namespace stepwright
