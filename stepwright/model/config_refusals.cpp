#include "stepwright/model/config_refusals.h"

namespace stepwright::model {
namespace {

// From transformers 5.23, models/*/modeling_*.py; its judge holds them against what is refused.
constexpr RefusedType kRefused[] = {
    {"axk1", "a norm of experts that dense layers have not", "deepseek_v3"},
    {"axk2", "norms with gates of low rank", "deepseek_v32"},
    {"bailing_hybrid", "a decay for each channel", "qwen3_next"},
    {"bitnet", "norms inside of the branches", "llama"},
    {"blt", "bytes in patches, three transformers", "llama"},
    {"cpmant", "tables of segments, prompts and position buckets", "llama"},
    {"deepseek_v4", "several residual streams, compressed keys", "deepseek_v32"},
    {"diffllama", "the difference of two attentions", "llama"},
    {"doge", "a mask that is computed", "llama"},
    {"dots3_note_text", "latent attention of unlike sizes", "deepseek_v32"},
    {"gemma3n_text", "several residual streams, embeddings for each layer, keys shared by layers",
     "gemma3_text"},
    {"gemma4_text", "embeddings for each layer", "gemma3_text"},
    {"gemma4_unified_text", "heads of unlike sizes", "gemma3_text"},
    {"gpt_neox_japanese", "a bias in the last layer alone", "gpt_neox"},
    {"hrm_text", "stacks that run several times", "llama"},
    {"hy_v4", "several residual streams", "deepseek_v32"},
    {"inkling2_text", "scores by relative position, convolutions on the residual stream",
     "qwen3_moe"},
    {"inkling_text", "scores by relative position, convolutions on the residual stream",
     "qwen3_moe"},
    {"jetmoe", "experts inside attention", "mixtral"},
    {"kimi_linear", "a decay for each channel", "qwen3_next"},
    {"laguna", "one gate for each head, other heads in some layers", "afmoe"},
    {"lfm3", "one gate for each head", "lfm2"},
    {"longcat_flash", "two attentions and two MLPs a layer, experts that do nothing",
     "deepseek_v3"},
    {"mimo_v2_flash", "values narrower than keys, other heads in some layers", "flint"},
    {"minimax", "lightning attention", "minimax_m2"},
    {"modernbert-decoder", "a layer between the last one and the head", "gemma2"},
    {"openai-gpt", "norms behind the sums of the residual stream", "gpt2"},
    {"qwen4_exp_text", "several residual streams, tables of n-grams", "qwen3_next"},
    {"recurrent_gemma", "gated linear recurrences", "mamba2"},
    {"rwkv", "time mixing", "mamba2"},
    {"xlstm", "matrix memories", "mamba2"},
    {"zamba", "one transformer block for many layers", "jamba"},
    {"zamba2", "one transformer block for many layers", "bamba"},
    {"zaya", "convolved attention, a router with a state", "qwen3_moe"},
};

}  // namespace

std::span<const RefusedType> refused_types() { return kRefused; }

}  // namespace stepwright::model
