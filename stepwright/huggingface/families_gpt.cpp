// Names of weights like GPT-2's, by transformers 4 and 5.
#include "stepwright/huggingface/families.h"

namespace stepwright::huggingface {
namespace {

constexpr ParameterNames kGpt2[] = {
    {"embedding.word", Storage::kWhole, {"transformer.wte.weight"}},
    {"embedding.position", Storage::kWhole, {"transformer.wpe.weight"}},
    {"norm.final", Storage::kWhole, {"transformer.ln_f.weight"}},
    {"norm.final_bias", Storage::kWhole, {"transformer.ln_f.bias"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"norm.attention", Storage::kWhole, {".ln_1.weight"}},
    {"norm.attention_bias", Storage::kWhole, {".ln_1.bias"}},
    {"attention.qkv", Storage::kTransposed, {".attn.c_attn.weight"}},
    {"attention.qkv_bias", Storage::kWhole, {".attn.c_attn.bias"}},
    {"attention.output", Storage::kTransposed, {".attn.c_proj.weight"}},
    {"attention.output_bias", Storage::kWhole, {".attn.c_proj.bias"}},
    {"norm.mlp", Storage::kWhole, {".ln_2.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {".ln_2.bias"}},
    {"mlp.fc1", Storage::kTransposed, {".mlp.c_fc.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".mlp.c_fc.bias"}},
    {"mlp.fc2", Storage::kTransposed, {".mlp.c_proj.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.c_proj.bias"}},
};

constexpr ParameterNames kGptNeox[] = {
    {"embedding.word", Storage::kWhole, {"gpt_neox.embed_in.weight"}},
    {"norm.final", Storage::kWhole, {"gpt_neox.final_layer_norm.weight"}},
    {"norm.final_bias", Storage::kWhole, {"gpt_neox.final_layer_norm.bias"}},
    {"head.weight", Storage::kWhole, {"embed_out.weight"}},
    {"norm.attention", Storage::kWhole, {".input_layernorm.weight"}},
    {"norm.attention_bias", Storage::kWhole, {".input_layernorm.bias"}},
    {"attention.qkv", Storage::kByGroup, {".attention.query_key_value.weight"}},
    {"attention.qkv_bias", Storage::kByGroup, {".attention.query_key_value.bias"}},
    {"attention.output", Storage::kWhole, {".attention.dense.weight"}},
    {"attention.output_bias", Storage::kWhole, {".attention.dense.bias"}},
    {"norm.mlp", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {".post_attention_layernorm.bias"}},
    {"mlp.fc1", Storage::kWhole, {".mlp.dense_h_to_4h.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".mlp.dense_h_to_4h.bias"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.dense_4h_to_h.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.dense_4h_to_h.bias"}},
};

/// Layers of fairseq's decoders.
constexpr ParameterNames kFairseq[] = {
    {"head.bias", Storage::kWhole, {"lm_head.bias"}},
    {"norm.attention", Storage::kWhole, {".self_attn_layer_norm.weight"}},
    {"norm.attention_bias", Storage::kWhole, {".self_attn_layer_norm.bias"}},
    {"attention.output", Storage::kWhole, {".self_attn.out_proj.weight"}},
    {"attention.output_bias", Storage::kWhole, {".self_attn.out_proj.bias"}},
    {"norm.mlp", Storage::kWhole, {".final_layer_norm.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {".final_layer_norm.bias"}},
    {"mlp.fc1", Storage::kWhole, {".fc1.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".fc1.bias"}},
    {"mlp.fc2", Storage::kWhole, {".fc2.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".fc2.bias"}},
    {"attention.qkv",
     Storage::kParts,
     {".self_attn.q_proj.weight", ".self_attn.k_proj.weight", ".self_attn.v_proj.weight"}},
    {"attention.qkv_bias",
     Storage::kParts,
     {".self_attn.q_proj.bias", ".self_attn.k_proj.bias", ".self_attn.v_proj.bias"}},
};

constexpr ParameterNames kOptOwn[] = {
    {"embedding.word", Storage::kWhole, {"model.decoder.embed_tokens.weight"}},
    {"embedding.position", Storage::kWhole, {"model.decoder.embed_positions.weight"}},
    {"norm.final", Storage::kWhole, {"model.decoder.final_layer_norm.weight"}},
    {"norm.final_bias", Storage::kWhole, {"model.decoder.final_layer_norm.bias"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
};
constexpr auto kOpt = joined_names(kOptOwn, kFairseq);

constexpr ParameterNames kXglmOwn[] = {
    {"embedding.word", Storage::kWhole, {"model.embed_tokens.weight"}},
    {"norm.final", Storage::kWhole, {"model.layer_norm.weight"}},
    {"norm.final_bias", Storage::kWhole, {"model.layer_norm.bias"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
};
constexpr auto kXglm = joined_names(kXglmOwn, kFairseq);

constexpr ParameterNames kBiogptOwn[] = {
    {"embedding.word", Storage::kWhole, {"biogpt.embed_tokens.weight"}},
    {"embedding.position", Storage::kWhole, {"biogpt.embed_positions.weight"}},
    {"norm.final", Storage::kWhole, {"biogpt.layer_norm.weight"}},
    {"norm.final_bias", Storage::kWhole, {"biogpt.layer_norm.bias"}},
    {"head.weight", Storage::kWhole, {"output_projection.weight"}},
};
constexpr auto kBiogpt = joined_names(kBiogptOwn, kFairseq);

constexpr ParameterNames kBloom[] = {
    {"embedding.word", Storage::kWhole, {"transformer.word_embeddings.weight"}},
    {"norm.final", Storage::kWhole, {"transformer.ln_f.weight"}},
    {"norm.final_bias", Storage::kWhole, {"transformer.ln_f.bias"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"head.bias", Storage::kWhole, {"lm_head.bias"}},
    {"norm.attention", Storage::kWhole, {".input_layernorm.weight"}},
    {"norm.attention_bias", Storage::kWhole, {".input_layernorm.bias"}},
    {"attention.output", Storage::kWhole, {".self_attention.dense.weight"}},
    {"attention.output_bias", Storage::kWhole, {".self_attention.dense.bias"}},
    {"norm.mlp", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {".post_attention_layernorm.bias"}},
    {"mlp.fc1", Storage::kWhole, {".mlp.dense_h_to_4h.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".mlp.dense_h_to_4h.bias"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.dense_4h_to_h.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.dense_4h_to_h.bias"}},
    {"embedding.norm", Storage::kWhole, {"transformer.word_embeddings_layernorm.weight"}},
    {"embedding.norm_bias", Storage::kWhole, {"transformer.word_embeddings_layernorm.bias"}},
    {"attention.qkv", Storage::kByGroup, {".self_attention.query_key_value.weight"}},
    {"attention.qkv_bias", Storage::kByGroup, {".self_attention.query_key_value.bias"}},
};

constexpr ParameterNames kMpt[] = {
    {"embedding.word", Storage::kWhole, {"transformer.wte.weight"}},
    {"norm.final", Storage::kWhole, {"transformer.norm_f.weight"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"norm.attention", Storage::kWhole, {".norm_1.weight"}},
    {"attention.qkv", Storage::kWhole, {".attn.Wqkv.weight"}},
    {"attention.output", Storage::kWhole, {".attn.out_proj.weight"}},
    {"norm.mlp", Storage::kWhole, {".norm_2.weight"}},
    {"mlp.fc1", Storage::kWhole, {".ffn.up_proj.weight"}},
    {"mlp.fc2", Storage::kWhole, {".ffn.down_proj.weight"}},
};

/// GPT-2's, with products stored as linear layers.
constexpr ParameterNames kGptLinear[] = {
    {"embedding.word", Storage::kWhole, {"transformer.wte.weight"}},
    {"embedding.position", Storage::kWhole, {"transformer.wpe.weight"}},
    {"norm.final", Storage::kWhole, {"transformer.ln_f.weight"}},
    {"norm.final_bias", Storage::kWhole, {"transformer.ln_f.bias"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"head.bias", Storage::kWhole, {"lm_head.bias"}},
    {"norm.attention", Storage::kWhole, {".ln_1.weight"}},
    {"norm.attention_bias", Storage::kWhole, {".ln_1.bias"}},
    {"norm.mlp", Storage::kWhole, {".ln_2.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {".ln_2.bias"}},
    {"mlp.fc1", Storage::kWhole, {".mlp.c_fc.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".mlp.c_fc.bias"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.c_proj.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.c_proj.bias"}},
};

constexpr ParameterNames kBigCodeOwn[] = {
    {"attention.qkv", Storage::kByGroup, {".attn.c_attn.weight"}},
    {"attention.qkv_bias", Storage::kByGroup, {".attn.c_attn.bias"}},
    {"attention.output", Storage::kWhole, {".attn.c_proj.weight"}},
    {"attention.output_bias", Storage::kWhole, {".attn.c_proj.bias"}},
};
constexpr auto kBigCode = joined_names(kBigCodeOwn, kGptLinear);

constexpr ParameterNames kGptNeoOwn[] = {
    {"attention.output", Storage::kWhole, {".attn.attention.out_proj.weight"}},
    {"attention.output_bias", Storage::kWhole, {".attn.attention.out_proj.bias"}},
    {"attention.qkv",
     Storage::kParts,
     {".attn.attention.q_proj.weight", ".attn.attention.k_proj.weight",
      ".attn.attention.v_proj.weight"}},
    {"attention.qkv_bias",
     Storage::kParts,
     {".attn.attention.q_proj.bias", ".attn.attention.k_proj.bias", ".attn.attention.v_proj.bias"}},
};
constexpr auto kGptNeo = joined_names(kGptNeoOwn, kGptLinear);

constexpr ParameterNames kGptj[] = {
    {"embedding.word", Storage::kWhole, {"transformer.wte.weight"}},
    {"norm.final", Storage::kWhole, {"transformer.ln_f.weight"}},
    {"norm.final_bias", Storage::kWhole, {"transformer.ln_f.bias"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"head.bias", Storage::kWhole, {"lm_head.bias"}},
    {"norm.attention", Storage::kWhole, {".ln_1.weight"}},
    {"norm.attention_bias", Storage::kWhole, {".ln_1.bias"}},
    {"attention.output", Storage::kWhole, {".attn.out_proj.weight"}},
    {"attention.output_bias", Storage::kWhole, {".attn.out_proj.bias"}},
    {"mlp.fc1", Storage::kWhole, {".mlp.fc_in.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".mlp.fc_in.bias"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.fc_out.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.fc_out.bias"}},
    {"attention.qkv",
     Storage::kParts,
     {".attn.q_proj.weight", ".attn.k_proj.weight", ".attn.v_proj.weight"}},
    {"attention.qkv_bias",
     Storage::kParts,
     {".attn.q_proj.bias", ".attn.k_proj.bias", ".attn.v_proj.bias"}},
};

/// Queries, values and keys of a quarter of the heads, of the next quarter, ...
constexpr ParameterNames kCodegen[] = {
    {"attention.qkv", Storage::kByFour, {".attn.qkv_proj.weight"}, {"021"}},
};

constexpr ParameterNames kCtrl[] = {
    {"embedding.word", Storage::kWhole, {"transformer.w.weight"}},
    {"norm.final", Storage::kWhole, {"transformer.layernorm.weight"}},
    {"norm.final_bias", Storage::kWhole, {"transformer.layernorm.bias"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"head.bias", Storage::kWhole, {"lm_head.bias"}},
    {"norm.attention", Storage::kWhole, {".layernorm1.weight"}},
    {"norm.attention_bias", Storage::kWhole, {".layernorm1.bias"}},
    {"attention.qkv",
     Storage::kParts,
     {".multi_head_attention.Wq.weight", ".multi_head_attention.Wk.weight",
      ".multi_head_attention.Wv.weight"}},
    {"attention.qkv_bias",
     Storage::kParts,
     {".multi_head_attention.Wq.bias", ".multi_head_attention.Wk.bias",
      ".multi_head_attention.Wv.bias"}},
    {"attention.output", Storage::kWhole, {".multi_head_attention.dense.weight"}},
    {"attention.output_bias", Storage::kWhole, {".multi_head_attention.dense.bias"}},
    {"norm.mlp", Storage::kWhole, {".layernorm2.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {".layernorm2.bias"}},
    {"mlp.fc1", Storage::kWhole, {".ffn.0.weight"}},
    {"mlp.fc1_bias", Storage::kWhole, {".ffn.0.bias"}},
    {"mlp.fc2", Storage::kWhole, {".ffn.2.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".ffn.2.bias"}},
};

/// Falcon's norms where each branch has one of its own.
constexpr ParameterNames kFalconParallel[] = {
    {"norm.attention", Storage::kWhole, {".ln_attn.weight"}},
    {"norm.attention_bias", Storage::kWhole, {".ln_attn.bias"}},
    {"norm.mlp", Storage::kWhole, {".ln_mlp.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {".ln_mlp.bias"}},
};

constexpr std::string_view kMasks[] = {".attn.bias", ".attn.masked_bias"};
constexpr std::string_view kMasksAndFrequencies[] = {".rotary_emb.inv_freq", ".attention.bias",
                                                     ".attention.masked_bias"};

constexpr Family kGptFamilies[] = {
    {.model_type = "gpt2",
     .model_class = "GPT2LMHeadModel",
     .prefix = "transformer.",
     .layer = "transformer.h.{0}",
     .names = kGpt2,
     .derived = kMasks},
    {.model_type = "gpt_neox",
     .model_class = "GPTNeoXForCausalLM",
     .prefix = "gpt_neox.",
     .layer = "gpt_neox.layers.{0}",
     .names = kGptNeox,
     .head_alias = "lm_head.weight",
     .derived = kMasksAndFrequencies},
    {.model_type = "opt",
     .model_class = "OPTForCausalLM",
     .prefix = "model.",
     .layer = "model.decoder.layers.{0}",
     .names = kOpt,
     .derived = kMasks},
    {.model_type = "xglm",
     .model_class = "XGLMForCausalLM",
     .prefix = "model.",
     .layer = "model.layers.{0}",
     .names = kXglm,
     .derived = kMasks},
    {.model_type = "biogpt",
     .model_class = "BioGptForCausalLM",
     .prefix = "biogpt.",
     .layer = "biogpt.layers.{0}",
     .names = kBiogpt,
     .derived = kMasks},
    {.model_type = "bloom",
     .model_class = "BloomForCausalLM",
     .prefix = "transformer.",
     .layer = "transformer.h.{0}",
     .names = kBloom,
     .derived = kMasks},
    {.model_type = "mpt",
     .model_class = "MptForCausalLM",
     .prefix = "transformer.",
     .layer = "transformer.blocks.{0}",
     .names = kMpt,
     .derived = kMasks},
    {.model_type = "gpt_bigcode",
     .model_class = "GPTBigCodeForCausalLM",
     .prefix = "transformer.",
     .layer = "transformer.h.{0}",
     .names = kBigCode,
     .derived = kMasks},
    {.model_type = "gpt_neo",
     .model_class = "GPTNeoForCausalLM",
     .prefix = "transformer.",
     .layer = "transformer.h.{0}",
     .names = kGptNeo,
     .derived = kMasks},
    {.model_type = "gptj",
     .model_class = "GPTJForCausalLM",
     .prefix = "transformer.",
     .layer = "transformer.h.{0}",
     .names = kGptj,
     .rotary = RotaryOrder::kPairs,
     .derived = kMasks},
    {.model_type = "codegen",
     .model_class = "CodeGenForCausalLM",
     .prefix = "transformer.",
     .layer = "transformer.h.{0}",
     .names = kGptj,
     .own_names = kCodegen,
     .rotary = RotaryOrder::kPairs,
     .derived = kMasks},
    {.model_type = "ctrl",
     .model_class = "CTRLLMHeadModel",
     .prefix = "transformer.",
     .layer = "transformer.h.{0}",
     .names = kCtrl},
    {.model_type = "falcon",
     .model_class = "FalconForCausalLM",
     .prefix = "transformer.",
     .layer = "transformer.h.{0}",
     .names = kBloom,
     .parallel_names = kFalconParallel},
};

}  // namespace

std::span<const Family> gpt_weights() { return kGptFamilies; }

}  // namespace stepwright::huggingface
