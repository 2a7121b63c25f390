// Decoders like Llama's: RMSNorm, rotary positions, dense MLPs.
#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"

namespace stepwright {
namespace {

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

Architecture read_qwen2(const ConfigFields& fields) {
  Architecture model = read_rotary(fields, {.positions = 32768, .kv_heads = 32});
  model.qkv_bias = true;
  read_windows(fields, WindowRule::kFromLayer, 4096, model);
  return model;
}

Architecture read_qwen3(const ConfigFields& fields) {
  Architecture model = read_common(fields, {.positions = 32768, .kv_heads = 32});
  model.head_dim = fields.find({"head_dim"}) ? head_dim(fields, model) : 128;
  model.rotary_fraction = fields.rotary_fraction(1);
  add_qwen3_attention(fields, model);
  read_windows(fields, WindowRule::kFromLayer, 4096, model);
  return model;
}

const ConfigFamily kDenseFamilies[] = {
    {"llama", read_llama, usual_names()},
    {"mistral", read_mistral, usual_names()},
    {"qwen2", read_qwen2, usual_names()},
    {"qwen3", read_qwen3, usual_names()},
};

}  // namespace

std::span<const ConfigFamily> dense_families() { return kDenseFamilies; }

}  // namespace stepwright
