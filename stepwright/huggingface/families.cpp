#include "stepwright/huggingface/families.h"

namespace stepwright {
namespace {

// Names of transformers 4 and 5, as files hold them.

constexpr ParameterNames kLlama[] = {
    {"embedding.word", Storage::kWhole, {"model.embed_tokens.weight"}},
    {"norm.final", Storage::kWhole, {"model.norm.weight"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"norm.attention", Storage::kWhole, {"model.layers.{0}.input_layernorm.weight"}},
    {"attention.qkv",
     Storage::kQkv,
     {"model.layers.{0}.self_attn.q_proj.weight", "model.layers.{0}.self_attn.k_proj.weight",
      "model.layers.{0}.self_attn.v_proj.weight"}},
    {"attention.qkv_bias",
     Storage::kQkv,
     {"model.layers.{0}.self_attn.q_proj.bias", "model.layers.{0}.self_attn.k_proj.bias",
      "model.layers.{0}.self_attn.v_proj.bias"}},
    {"attention.q_norm", Storage::kWhole, {"model.layers.{0}.self_attn.q_norm.weight"}},
    {"attention.k_norm", Storage::kWhole, {"model.layers.{0}.self_attn.k_norm.weight"}},
    {"attention.output", Storage::kWhole, {"model.layers.{0}.self_attn.o_proj.weight"}},
    {"attention.output_bias", Storage::kWhole, {"model.layers.{0}.self_attn.o_proj.bias"}},
    {"norm.mlp", Storage::kWhole, {"model.layers.{0}.post_attention_layernorm.weight"}},
    {"mlp.fc1",
     Storage::kHalves,
     {"model.layers.{0}.mlp.gate_proj.weight", "model.layers.{0}.mlp.up_proj.weight"}},
    {"mlp.fc1_bias",
     Storage::kHalves,
     {"model.layers.{0}.mlp.gate_proj.bias", "model.layers.{0}.mlp.up_proj.bias"}},
    {"mlp.fc2", Storage::kWhole, {"model.layers.{0}.mlp.down_proj.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {"model.layers.{0}.mlp.down_proj.bias"}},
};

constexpr ParameterNames kMixtralExperts[] = {
    {"router.weight", Storage::kWhole, {"model.layers.{0}.block_sparse_moe.gate.weight"}},
    {"experts.fc1",
     Storage::kExpertHalves,
     {"model.layers.{0}.block_sparse_moe.experts.{1}.w1.weight",
      "model.layers.{0}.block_sparse_moe.experts.{1}.w3.weight"}},
    {"experts.fc2", Storage::kExperts, {"model.layers.{0}.block_sparse_moe.experts.{1}.w2.weight"}},
};

constexpr ParameterNames kQwenExperts[] = {
    {"router.weight", Storage::kWhole, {"model.layers.{0}.mlp.gate.weight"}},
    {"experts.fc1",
     Storage::kExpertHalves,
     {"model.layers.{0}.mlp.experts.{1}.gate_proj.weight",
      "model.layers.{0}.mlp.experts.{1}.up_proj.weight"}},
    {"experts.fc2", Storage::kExperts, {"model.layers.{0}.mlp.experts.{1}.down_proj.weight"}},
};

constexpr ParameterNames kGpt2[] = {
    {"embedding.word", Storage::kWhole, {"transformer.wte.weight"}},
    {"embedding.position", Storage::kWhole, {"transformer.wpe.weight"}},
    {"norm.final", Storage::kWhole, {"transformer.ln_f.weight"}},
    {"norm.final_bias", Storage::kWhole, {"transformer.ln_f.bias"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"norm.attention", Storage::kWhole, {"transformer.h.{0}.ln_1.weight"}},
    {"norm.attention_bias", Storage::kWhole, {"transformer.h.{0}.ln_1.bias"}},
    {"attention.qkv", Storage::kTransposed, {"transformer.h.{0}.attn.c_attn.weight"}},
    {"attention.qkv_bias", Storage::kWhole, {"transformer.h.{0}.attn.c_attn.bias"}},
    {"attention.output", Storage::kTransposed, {"transformer.h.{0}.attn.c_proj.weight"}},
    {"attention.output_bias", Storage::kWhole, {"transformer.h.{0}.attn.c_proj.bias"}},
    {"norm.mlp", Storage::kWhole, {"transformer.h.{0}.ln_2.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {"transformer.h.{0}.ln_2.bias"}},
    {"mlp.fc1", Storage::kTransposed, {"transformer.h.{0}.mlp.c_fc.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {"transformer.h.{0}.mlp.c_fc.bias"}},
    {"mlp.fc2", Storage::kTransposed, {"transformer.h.{0}.mlp.c_proj.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {"transformer.h.{0}.mlp.c_proj.bias"}},
};

constexpr ParameterNames kGptNeox[] = {
    {"embedding.word", Storage::kWhole, {"gpt_neox.embed_in.weight"}},
    {"norm.final", Storage::kWhole, {"gpt_neox.final_layer_norm.weight"}},
    {"norm.final_bias", Storage::kWhole, {"gpt_neox.final_layer_norm.bias"}},
    {"head.weight", Storage::kWhole, {"embed_out.weight"}},
    {"norm.attention", Storage::kWhole, {"gpt_neox.layers.{0}.input_layernorm.weight"}},
    {"norm.attention_bias", Storage::kWhole, {"gpt_neox.layers.{0}.input_layernorm.bias"}},
    {"attention.qkv",
     Storage::kQkvByHead,
     {"gpt_neox.layers.{0}.attention.query_key_value.weight"}},
    {"attention.qkv_bias",
     Storage::kQkvByHead,
     {"gpt_neox.layers.{0}.attention.query_key_value.bias"}},
    {"attention.output", Storage::kWhole, {"gpt_neox.layers.{0}.attention.dense.weight"}},
    {"attention.output_bias", Storage::kWhole, {"gpt_neox.layers.{0}.attention.dense.bias"}},
    {"norm.mlp", Storage::kWhole, {"gpt_neox.layers.{0}.post_attention_layernorm.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {"gpt_neox.layers.{0}.post_attention_layernorm.bias"}},
    {"mlp.fc1", Storage::kWhole, {"gpt_neox.layers.{0}.mlp.dense_h_to_4h.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {"gpt_neox.layers.{0}.mlp.dense_h_to_4h.bias"}},
    {"mlp.fc2", Storage::kWhole, {"gpt_neox.layers.{0}.mlp.dense_4h_to_h.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {"gpt_neox.layers.{0}.mlp.dense_4h_to_h.bias"}},
};

constexpr std::string_view kFrequencies[] = {".rotary_emb.inv_freq"};
constexpr std::string_view kMasks[] = {".attn.bias", ".attn.masked_bias"};
constexpr std::string_view kMasksAndFrequencies[] = {".rotary_emb.inv_freq", ".attention.bias",
                                                     ".attention.masked_bias"};

constexpr Family llama_like(std::string_view model_type, std::string_view model_class,
                            std::span<const ParameterNames> expert_names = {}) {
  return {.model_type = model_type,
          .model_class = model_class,
          .prefix = "model.",
          .names = kLlama,
          .expert_names = expert_names,
          .derived = kFrequencies};
}

constexpr Family kFamilies[] = {
    llama_like("llama", "LlamaForCausalLM"),
    llama_like("qwen2", "Qwen2ForCausalLM"),
    llama_like("qwen3", "Qwen3ForCausalLM"),
    llama_like("mistral", "MistralForCausalLM"),
    llama_like("mixtral", "MixtralForCausalLM", kMixtralExperts),
    llama_like("qwen3_moe", "Qwen3MoeForCausalLM", kQwenExperts),
    {.model_type = "gpt2",
     .model_class = "GPT2LMHeadModel",
     .prefix = "transformer.",
     .names = kGpt2,
     .derived = kMasks},
    {.model_type = "gpt_neox",
     .model_class = "GPTNeoXForCausalLM",
     .prefix = "gpt_neox.",
     .names = kGptNeox,
     .head_alias = "lm_head.weight",
     .derived = kMasksAndFrequencies},
};

}  // namespace

std::span<const Family> weight_families() { return kFamilies; }

const Family* find_family(std::string_view model_type) {
  for (const Family& family : kFamilies) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

}  // namespace stepwright
