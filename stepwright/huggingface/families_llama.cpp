// Names of weights like Llama's, by transformers 4 and 5.
#include "stepwright/huggingface/families.h"

namespace stepwright::huggingface {
namespace {

constexpr ParameterNames kLlamaOwn[] = {
    {"norm.final", Storage::kWhole, {"model.norm.weight"}},
    {"attention.q_norm", Storage::kWhole, {".self_attn.q_norm.weight"}},
    {"attention.k_norm", Storage::kWhole, {".self_attn.k_norm.weight"}},
    {"norm.mlp", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"mlp.fc1", Storage::kParts, {".mlp.gate_proj.weight", ".mlp.up_proj.weight"}},
    {"mlp.fc1_bias", Storage::kParts, {".mlp.gate_proj.bias", ".mlp.up_proj.bias"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.down_proj.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.down_proj.bias"}},
    {"norm.final_bias", Storage::kWhole, {"model.norm.bias"}},
    {"norm.attention_bias", Storage::kWhole, {".input_layernorm.bias"}},
    {"norm.mlp_bias", Storage::kWhole, {".post_attention_layernorm.bias"}},
    {"attention.sinks", Storage::kWhole, {".self_attn.sinks"}},
    {"head.bias", Storage::kWhole, {"lm_head.bias"}},
};
constexpr auto kLlama = joined_names(kUsualNames, kLlamaOwn);

constexpr ParameterNames kMixtralExperts[] = {
    {"router.weight", Storage::kWhole, {".block_sparse_moe.gate.weight"}},
    {"experts.fc1",
     Storage::kExpertParts,
     {".block_sparse_moe.experts.{1}.w1.weight", ".block_sparse_moe.experts.{1}.w3.weight"}},
    {"experts.fc2", Storage::kExperts, {".block_sparse_moe.experts.{1}.w2.weight"}},
};

constexpr ParameterNames kQwenExperts[] = {
    {"router.weight", Storage::kWhole, {".mlp.gate.weight"}},
    {"experts.fc1",
     Storage::kExpertParts,
     {".mlp.experts.{1}.gate_proj.weight", ".mlp.experts.{1}.up_proj.weight"}},
    {"experts.fc2", Storage::kExperts, {".mlp.experts.{1}.down_proj.weight"}},
};

/// An MLP without gates.
constexpr ParameterNames kPlainMlp[] = {
    {"mlp.fc1", Storage::kWhole, {".mlp.up_proj.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".mlp.up_proj.bias"}},
};

/// Gates and ups in one tensor.
constexpr ParameterNames kFusedGate[] = {
    {"mlp.fc1", Storage::kWhole, {".mlp.gate_up_proj.weight"}},
};

constexpr ParameterNames kPhi3[] = {
    {"attention.qkv", Storage::kWhole, {".self_attn.qkv_proj.weight"}},
    {"mlp.fc1", Storage::kWhole, {".mlp.gate_up_proj.weight"}},
};

constexpr ParameterNames kGlm4[] = {
    {"mlp.fc1", Storage::kWhole, {".mlp.gate_up_proj.weight"}},
    {"norm.attention_out", Storage::kWhole, {".post_self_attn_layernorm.weight"}},
    {"norm.mlp_out", Storage::kWhole, {".post_mlp_layernorm.weight"}},
};

/// Norms before and after each branch; those of VaultGemma before it.
constexpr ParameterNames kGemma2[] = {
    {"norm.attention_out", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"norm.mlp", Storage::kWhole, {".pre_feedforward_layernorm.weight"}},
    {"norm.mlp_out", Storage::kWhole, {".post_feedforward_layernorm.weight"}},
};

/// Norms after each branch.
constexpr ParameterNames kOlmo2[] = {
    {"norm.attention_out", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"norm.mlp_out", Storage::kWhole, {".post_feedforward_layernorm.weight"}},
};

constexpr ParameterNames kHyperClova[] = {
    {"norm.attention_out", Storage::kWhole, {".post_norm1.weight"}},
    {"norm.mlp_out", Storage::kWhole, {".post_norm2.weight"}},
};

constexpr ParameterNames kHunyuan[] = {
    {"attention.q_norm", Storage::kWhole, {".self_attn.query_layernorm.weight"}},
    {"attention.k_norm", Storage::kWhole, {".self_attn.key_layernorm.weight"}},
};

constexpr ParameterNames kNanochat[] = {
    {"mlp.fc1", Storage::kWhole, {".mlp.fc1.weight"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.fc2.weight"}},
};

constexpr ParameterNames kStarcoder2[] = {
    {"mlp.fc1", Storage::kWhole, {".mlp.c_fc.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".mlp.c_fc.bias"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.c_proj.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.c_proj.bias"}},
};

constexpr ParameterNames kPhi[] = {
    {"norm.final", Storage::kWhole, {"model.final_layernorm.weight"}},
    {"norm.final_bias", Storage::kWhole, {"model.final_layernorm.bias"}},
    {"attention.output", Storage::kWhole, {".self_attn.dense.weight"}},
    {"attention.output_bias", Storage::kWhole, {".self_attn.dense.bias"}},
    {"attention.q_norm", Storage::kWhole, {".self_attn.q_layernorm.weight"}},
    {"attention.q_norm_bias", Storage::kWhole, {".self_attn.q_layernorm.bias"}},
    {"attention.k_norm", Storage::kWhole, {".self_attn.k_layernorm.weight"}},
    {"attention.k_norm_bias", Storage::kWhole, {".self_attn.k_layernorm.bias"}},
    {"mlp.fc1", Storage::kWhole, {".mlp.fc1.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".mlp.fc1.bias"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.fc2.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.fc2.bias"}},
};

constexpr ParameterNames kPersimmon[] = {
    {"norm.final", Storage::kWhole, {"model.final_layernorm.weight"}},
    {"norm.final_bias", Storage::kWhole, {"model.final_layernorm.bias"}},
    {"attention.output", Storage::kWhole, {".self_attn.dense.weight"}},
    {"attention.output_bias", Storage::kWhole, {".self_attn.dense.bias"}},
    {"attention.q_norm", Storage::kWhole, {".self_attn.q_layernorm.weight"}},
    {"attention.q_norm_bias", Storage::kWhole, {".self_attn.q_layernorm.bias"}},
    {"attention.k_norm", Storage::kWhole, {".self_attn.k_layernorm.weight"}},
    {"attention.k_norm_bias", Storage::kWhole, {".self_attn.k_layernorm.bias"}},
    {"attention.qkv", Storage::kByGroup, {".self_attn.query_key_value.weight"}},
    {"attention.qkv_bias", Storage::kByGroup, {".self_attn.query_key_value.bias"}},
    {"mlp.fc1", Storage::kWhole, {".mlp.dense_h_to_4h.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".mlp.dense_h_to_4h.bias"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.dense_4h_to_h.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.dense_4h_to_h.bias"}},
};

constexpr ParameterNames kCohere[] = {
    {"attention.q_norm", Storage::kHeadRows, {".self_attn.q_norm.weight"}},
    {"attention.k_norm", Storage::kHeadRows, {".self_attn.k_norm.weight"}},
};

constexpr ParameterNames kStableLm[] = {
    {"attention.q_norm", Storage::kHeads, {".self_attn.q_layernorm.norms.{1}.weight"}},
    {"attention.k_norm", Storage::kHeads, {".self_attn.k_layernorm.norms.{1}.weight"}},
};

constexpr std::string_view kFrequencies[] = {".rotary_emb.inv_freq"};

constexpr Family llama_like(std::string_view model_type, std::string_view model_class,
                            std::span<const ParameterNames> own_names = {},
                            RotaryOrder rotary = RotaryOrder::kHalves) {
  return {.model_type = model_type,
          .model_class = model_class,
          .prefix = "model.",
          .layer = "model.layers.{0}",
          .names = kLlama,
          .own_names = own_names,
          .rotary = rotary,
          .derived = kFrequencies};
}

constexpr Family kLlamaFamilies[] = {
    llama_like("llama", "LlamaForCausalLM"),
    llama_like("qwen2", "Qwen2ForCausalLM"),
    llama_like("qwen3", "Qwen3ForCausalLM"),
    llama_like("mistral", "MistralForCausalLM"),
    llama_like("mixtral", "MixtralForCausalLM", kMixtralExperts),
    llama_like("qwen3_moe", "Qwen3MoeForCausalLM", kQwenExperts),
    llama_like("arcee", "ArceeForCausalLM", kPlainMlp),
    llama_like("cohere", "CohereForCausalLM", kCohere, RotaryOrder::kPairs),
    llama_like("cohere2", "Cohere2ForCausalLM", {}, RotaryOrder::kPairs),
    llama_like("cwm", "CwmForCausalLM"),
    llama_like("ernie4_5", "Ernie4_5ForCausalLM", {}, RotaryOrder::kPairs),
    llama_like("exaone4", "Exaone4ForCausalLM", kOlmo2),
    llama_like("gemma", "GemmaForCausalLM"),
    llama_like("gemma2", "Gemma2ForCausalLM", kGemma2),
    llama_like("gemma3_text", "Gemma3ForCausalLM", kGemma2),
    llama_like("glm", "GlmForCausalLM", kFusedGate, RotaryOrder::kPairs),
    llama_like("glm4", "Glm4ForCausalLM", kGlm4, RotaryOrder::kPairs),
    llama_like("granite", "GraniteForCausalLM"),
    llama_like("granite_swa", "GraniteSWAForCausalLM"),
    llama_like("helium", "HeliumForCausalLM", {}, RotaryOrder::kPairs),
    llama_like("hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM", kHunyuan),
    llama_like("hyperclovax", "HyperCLOVAXForCausalLM", kHyperClova),
    llama_like("internlm3", "InternLM3ForCausalLM"),
    llama_like("iquestcoder", "IQuestCoderForCausalLM"),
    llama_like("jais2", "Jais2ForCausalLM", kPlainMlp),
    llama_like("ministral", "MinistralForCausalLM"),
    llama_like("ministral3", "Ministral3ForCausalLM"),
    llama_like("nanochat", "NanoChatForCausalLM", kNanochat, RotaryOrder::kSwapped),
    llama_like("nemotron", "NemotronForCausalLM", kPlainMlp),
    llama_like("olmo", "OlmoForCausalLM"),
    llama_like("olmo2", "Olmo2ForCausalLM", kOlmo2),
    llama_like("olmo3", "Olmo3ForCausalLM", kOlmo2),
    llama_like("persimmon", "PersimmonForCausalLM", kPersimmon),
    llama_like("phi", "PhiForCausalLM", kPhi),
    llama_like("phi3", "Phi3ForCausalLM", kPhi3),
    llama_like("seed_oss", "SeedOssForCausalLM"),
    llama_like("smollm3", "SmolLM3ForCausalLM"),
    llama_like("stablelm", "StableLmForCausalLM", kStableLm),
    llama_like("starcoder2", "Starcoder2ForCausalLM", kStarcoder2),
    llama_like("vaultgemma", "VaultGemmaForCausalLM", kGemma2),
};

}  // namespace

std::span<const Family> llama_weights() { return kLlamaFamilies; }

}  // namespace stepwright::huggingface
