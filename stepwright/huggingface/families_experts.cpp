// Names of weights of models with experts and with latent attention, by transformers 5: a tensor
// for each matrix of each expert.
#include "stepwright/huggingface/families.h"

namespace stepwright::huggingface {
namespace {

/// Names that most families with experts share.
constexpr ParameterNames kBaseOwn[] = {
    {"norm.final", Storage::kWhole, {"model.norm.weight"}},
    {"norm.final_bias", Storage::kWhole, {"model.norm.bias"}},
    {"head.bias", Storage::kWhole, {"lm_head.bias"}},
    {"norm.attention_bias", Storage::kWhole, {".input_layernorm.bias"}},
    {"norm.mlp", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"norm.mlp_bias", Storage::kWhole, {".post_attention_layernorm.bias"}},
    {"mlp.fc1", Storage::kParts, {".mlp.gate_proj.weight", ".mlp.up_proj.weight"}},
    {"mlp.fc1_bias", Storage::kParts, {".mlp.gate_proj.bias", ".mlp.up_proj.bias"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.down_proj.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".mlp.down_proj.bias"}},
    {"router.weight", Storage::kWhole, {".mlp.gate.weight"}},
    {"router.correction_bias", Storage::kWhole, {".mlp.gate.e_score_correction_bias"}},
    {"experts.fc1",
     Storage::kExpertParts,
     {".mlp.experts.{1}.gate_proj.weight", ".mlp.experts.{1}.up_proj.weight"}},
    {"experts.fc2", Storage::kExperts, {".mlp.experts.{1}.down_proj.weight"}},
    {"shared.fc1",
     Storage::kParts,
     {".mlp.shared_experts.gate_proj.weight", ".mlp.shared_experts.up_proj.weight"}},
    {"shared.fc2", Storage::kWhole, {".mlp.shared_experts.down_proj.weight"}},
    {"shared.gate", Storage::kWhole, {".mlp.shared_expert_gate.weight"}},
};
constexpr auto kBase = joined_names(kUsualNames, kBaseOwn);

constexpr ParameterNames kHeadNorms[] = {
    {"attention.q_norm", Storage::kWhole, {".self_attn.q_norm.weight"}},
    {"attention.k_norm", Storage::kWhole, {".self_attn.k_norm.weight"}},
};

/// Latent attention and its indexer.
constexpr ParameterNames kLatent[] = {
    {"attention.q", Storage::kWhole, {".self_attn.q_proj.weight"}},
    {"attention.q_down", Storage::kWhole, {".self_attn.q_a_proj.weight"}},
    {"attention.q_norm", Storage::kWhole, {".self_attn.q_a_layernorm.weight"}},
    {"attention.q_up", Storage::kWhole, {".self_attn.q_b_proj.weight"}},
    {"attention.kv_down", Storage::kWhole, {".self_attn.kv_a_proj_with_mqa.weight"}},
    {"attention.kv_norm", Storage::kWhole, {".self_attn.kv_a_layernorm.weight"}},
    {"attention.kv_up", Storage::kWhole, {".self_attn.kv_b_proj.weight"}},
    {"attention.index_q", Storage::kWhole, {".self_attn.indexer.wq_b.weight"}},
    {"attention.index_k", Storage::kWhole, {".self_attn.indexer.wk.weight"}},
    {"attention.index_norm", Storage::kWhole, {".self_attn.indexer.k_norm.weight"}},
    {"attention.index_norm_bias", Storage::kWhole, {".self_attn.indexer.k_norm.bias"}},
    {"attention.index_weights", Storage::kWhole, {".self_attn.indexer.weights_proj.weight"}},
};

constexpr ParameterNames kOneShared[] = {
    {"shared.fc1",
     Storage::kParts,
     {".mlp.shared_expert.gate_proj.weight", ".mlp.shared_expert.up_proj.weight"}},
    {"shared.fc2", Storage::kWhole, {".mlp.shared_expert.down_proj.weight"}},
};

constexpr ParameterNames kBlockSparse[] = {
    {"router.weight", Storage::kWhole, {".block_sparse_moe.gate.weight"}},
    {"router.correction_bias", Storage::kWhole, {".block_sparse_moe.e_score_correction_bias"}},
    {"experts.fc1",
     Storage::kExpertParts,
     {".block_sparse_moe.experts.{1}.w1.weight", ".block_sparse_moe.experts.{1}.w3.weight"}},
    {"experts.fc2", Storage::kExperts, {".block_sparse_moe.experts.{1}.w2.weight"}},
};

/// OLMo: norms on the results of branches.
constexpr ParameterNames kResultNorms[] = {
    {"norm.attention_out", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"norm.mlp_out", Storage::kWhole, {".post_feedforward_layernorm.weight"}},
};

constexpr ParameterNames kExaone[] = {
    {"router.correction_bias", Storage::kWhole, {".mlp.e_score_correction_bias"}},
};

/// Names of Hunyuan's third version.
constexpr ParameterNames kHunyuan3[] = {
    {"router.weight", Storage::kWhole, {".mlp.router.gate.weight"}},
    {"router.correction_bias", Storage::kWhole, {".mlp.expert_bias"}},
    {"shared.fc1",
     Storage::kParts,
     {".mlp.shared_mlp.gate_proj.weight", ".mlp.shared_mlp.up_proj.weight"}},
    {"shared.fc2", Storage::kWhole, {".mlp.shared_mlp.down_proj.weight"}},
};

constexpr ParameterNames kHunyuan1[] = {
    {"attention.q_norm", Storage::kWhole, {".self_attn.query_layernorm.weight"}},
    {"attention.k_norm", Storage::kWhole, {".self_attn.key_layernorm.weight"}},
    {"router.weight", Storage::kWhole, {".mlp.gate.wg.weight"}},
    {"shared.fc1",
     Storage::kParts,
     {".mlp.shared_mlp.gate_proj.weight", ".mlp.shared_mlp.up_proj.weight"}},
    {"shared.fc2", Storage::kWhole, {".mlp.shared_mlp.down_proj.weight"}},
};

constexpr ParameterNames kFlint[] = {
    {"attention.sinks", Storage::kWhole, {".self_attn.softmax_offset"}},
};

constexpr ParameterNames kKolibri[] = {
    {"router.correction_bias", Storage::kWhole, {".moe.router.expert_bias"}},
    {"norm.attention_out", Storage::kWhole, {".post_attn_norm.weight"}},
    {"norm.mlp_out", Storage::kWhole, {".post_ffn_norm.weight"}},
};

constexpr ParameterNames kApertus[] = {
    {"norm.attention", Storage::kWhole, {".attention_layernorm.weight"}},
    {"norm.mlp", Storage::kWhole, {".feedforward_layernorm.weight"}},
    {"mlp.fc1", Storage::kWhole, {".mlp.up_proj.weight"}},
    {"mlp.activation", Storage::kParts, {".mlp.act_fn.alpha_p", ".mlp.act_fn.alpha_n"}},
};

/// Norms on both sides of each branch; a gate beside queries, keys and values.
constexpr ParameterNames kAfmoe[] = {
    {"attention.qkv",
     Storage::kParts,
     {".self_attn.q_proj.weight", ".self_attn.k_proj.weight", ".self_attn.v_proj.weight",
      ".self_attn.gate_proj.weight"}},
    {"norm.attention_out", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"norm.mlp", Storage::kWhole, {".pre_mlp_layernorm.weight"}},
    {"norm.mlp_out", Storage::kWhole, {".post_mlp_layernorm.weight"}},
    {"router.weight", Storage::kWhole, {".mlp.router.gate.weight"}},
    {"router.correction_bias", Storage::kWhole, {".mlp.expert_bias"}},
};

constexpr ParameterNames kBeam[] = {
    {"attention.gate", Storage::kWhole, {".self_attn.gate_bias"}},
    {"norm.mlp", Storage::kWhole, {".pre_feedforward_layernorm.weight"}},
    {"norm.mlp_out", Storage::kWhole, {".post_feedforward_layernorm.weight"}},
    {"router.weight", Storage::kWhole, {".mlp.gate.weight"}},
    {"router.correction_bias", Storage::kWhole, {".mlp.gate.e_score_correction_bias"}},
};

constexpr ParameterNames kAria[] = {
    {"router.weight", Storage::kWhole, {".mlp.router.weight"}},
    {"experts.fc1", Storage::kStackedTransposed, {".mlp.experts.fc1.weight"}},
    {"experts.fc2", Storage::kStackedTransposed, {".mlp.experts.fc2.weight"}},
};

constexpr ParameterNames kErnie[] = {
    {"router.correction_bias", Storage::kRow, {".mlp.moe_statics.e_score_correction_bias"}},
};

constexpr ParameterNames kGptOss[] = {
    {"attention.sinks", Storage::kWhole, {".self_attn.sinks"}},
    {"router.weight", Storage::kWhole, {".mlp.router.weight"}},
    {"router.weight_bias", Storage::kWhole, {".mlp.router.bias"}},
    {"experts.fc1", Storage::kAlternating, {".mlp.experts.gate_up_proj"}},
    {"experts.fc1_bias", Storage::kAlternating, {".mlp.experts.gate_up_proj_bias"}},
    {"experts.fc2", Storage::kStackedTransposed, {".mlp.experts.down_proj"}},
    {"experts.fc2_bias", Storage::kStacked, {".mlp.experts.down_proj_bias"}},
};

constexpr ParameterNames kGranite[] = {
    {"router.weight", Storage::kWhole, {".block_sparse_moe.router.layer.weight"}},
    {"experts.fc1", Storage::kStacked, {".block_sparse_moe.input_linear.weight"}},
    {"experts.fc2", Storage::kStacked, {".block_sparse_moe.output_linear.weight"}},
    {"shared.fc1", Storage::kWhole, {".shared_mlp.input_linear.weight"}},
    {"shared.fc2", Storage::kWhole, {".shared_mlp.output_linear.weight"}},
};

constexpr ParameterNames kGraniteSwa[] = {
    {"attention.sinks", Storage::kWhole, {".self_attn.sinks"}},
    {"router.weight", Storage::kWhole, {".block_sparse_moe.router.weight"}},
    {"experts.fc1", Storage::kStacked, {".block_sparse_moe.experts.gate_up_proj"}},
    {"experts.fc2", Storage::kStacked, {".block_sparse_moe.experts.down_proj"}},
    {"shared.fc1", Storage::kWhole, {".shared_mlp.input_linear.weight"}},
    {"shared.fc2", Storage::kWhole, {".shared_mlp.output_linear.weight"}},
};

constexpr ParameterNames kLlama4[] = {
    {"mlp.fc1",
     Storage::kParts,
     {".feed_forward.gate_proj.weight", ".feed_forward.up_proj.weight"}},
    {"mlp.fc2", Storage::kWhole, {".feed_forward.down_proj.weight"}},
    {"router.weight", Storage::kWhole, {".feed_forward.router.weight"}},
    {"experts.fc1", Storage::kStackedTransposed, {".feed_forward.experts.gate_up_proj"}},
    {"experts.fc2", Storage::kStackedTransposed, {".feed_forward.experts.down_proj"}},
    {"shared.fc1",
     Storage::kParts,
     {".feed_forward.shared_expert.gate_proj.weight",
      ".feed_forward.shared_expert.up_proj.weight"}},
    {"shared.fc2", Storage::kWhole, {".feed_forward.shared_expert.down_proj.weight"}},
};

constexpr ParameterNames kMinimax3[] = {
    {"mlp.fc1", Storage::kWhole, {".mlp.gate_up_proj.weight"}},
    {"experts.fc1", Storage::kStacked, {".mlp.experts.gate_up_proj"}},
    {"experts.fc2", Storage::kStacked, {".mlp.experts.down_proj"}},
    {"shared.fc1", Storage::kWhole, {".mlp.shared_experts.gate_up_proj.weight"}},
};

constexpr ParameterNames kDbrx[] = {
    {"embedding.word", Storage::kWhole, {"transformer.wte.weight"}},
    {"norm.final", Storage::kWhole, {"transformer.norm_f.weight"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"norm.attention", Storage::kWhole, {".norm_attn_norm.norm_1.weight"}},
    {"attention.qkv", Storage::kWhole, {".norm_attn_norm.attn.Wqkv.weight"}},
    {"attention.output", Storage::kWhole, {".norm_attn_norm.attn.out_proj.weight"}},
    {"norm.mlp", Storage::kWhole, {".norm_attn_norm.norm_2.weight"}},
    {"router.weight", Storage::kWhole, {".ffn.router.layer.weight"}},
    {"experts.fc1", Storage::kJoinedParts, {".ffn.experts.mlp.w1", ".ffn.experts.mlp.v1"}},
    {"experts.fc2", Storage::kJoinedTransposed, {".ffn.experts.mlp.w2"}},
};

constexpr auto kHeadNormsResultNorms = joined_names(kHeadNorms, kResultNorms);
constexpr auto kHeadNormsExaone = joined_names(kHeadNorms, kExaone);
constexpr auto kHeadNormsHunyuan3 = joined_names(kHeadNorms, kHunyuan3);
constexpr auto kHeadNormsBlockSparse = joined_names(kHeadNorms, kBlockSparse);
constexpr auto kHeadNormsOneSharedFlint = joined_names(kHeadNorms, kOneShared, kFlint);
constexpr auto kHeadNormsKolibri = joined_names(kHeadNorms, kKolibri);
constexpr auto kHeadNormsApertus = joined_names(kHeadNorms, kApertus);
constexpr auto kHeadNormsAfmoe = joined_names(kHeadNorms, kAfmoe);
constexpr auto kHeadNormsBeam = joined_names(kHeadNorms, kBeam, kAfmoe);
constexpr auto kHeadNormsMinimax3 = joined_names(kHeadNorms, kMinimax3);

constexpr Family expert_family(std::string_view model_type, std::string_view model_class,
                               std::span<const ParameterNames> own_names = {},
                               RotaryOrder rotary = RotaryOrder::kHalves,
                               RotaryOrder index_rotary = RotaryOrder::kHalves) {
  return {.model_type = model_type,
          .model_class = model_class,
          .prefix = "model.",
          .layer = "model.layers.{0}",
          .names = kBase,
          .own_names = own_names,
          .rotary = rotary,
          .index_rotary = index_rotary};
}

constexpr Family kExpertFamilies[] = {
    expert_family("deepseek_v2", "DeepseekV2ForCausalLM", kLatent, RotaryOrder::kPairs),
    expert_family("deepseek_v3", "DeepseekV3ForCausalLM", kLatent, RotaryOrder::kPairsAsStated),
    expert_family("deepseek_v32", "DeepseekV32ForCausalLM", kLatent, RotaryOrder::kPairs),
    expert_family("glm_moe_dsa", "GlmMoeDsaForCausalLM", kLatent, RotaryOrder::kPairs,
                  RotaryOrder::kPairs),
    expert_family("glm4_moe_lite", "Glm4MoeLiteForCausalLM", kLatent, RotaryOrder::kPairsAsStated),
    expert_family("youtu", "YoutuForCausalLM", kLatent, RotaryOrder::kPairsAsStated),
    expert_family("minicpm3", "MiniCPM3ForCausalLM", kLatent),
    expert_family("qwen2_moe", "Qwen2MoeForCausalLM", kOneShared),
    expert_family("olmoe", "OlmoeForCausalLM", kHeadNorms),
    expert_family("flex_olmo", "FlexOlmoForCausalLM", kHeadNormsResultNorms),
    expert_family("dots1", "Dots1ForCausalLM", kHeadNorms),
    expert_family("glm4_moe", "Glm4MoeForCausalLM", kHeadNorms),
    expert_family("solar_open", "SolarOpenForCausalLM"),
    expert_family("mellum", "MellumForCausalLM", kHeadNorms),
    expert_family("exaone_moe", "ExaoneMoeForCausalLM", kHeadNormsExaone),
    expert_family("hy_v3", "HYV3ForCausalLM", kHeadNormsHunyuan3),
    expert_family("minimax_m2", "MiniMaxM2ForCausalLM", kHeadNormsBlockSparse),
    expert_family("phimoe", "PhimoeForCausalLM", kBlockSparse),
    expert_family("flint", "FlintForCausalLM", kHeadNormsOneSharedFlint),
    expert_family("kolibri1", "Kolibri1ForCausalLM", kHeadNormsKolibri),
    expert_family("hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM", kHunyuan1),
    expert_family("apertus", "ApertusForCausalLM", kHeadNormsApertus),
    expert_family("cohere_compass_text", "CohereCompassForCausalLM"),
    expert_family("afmoe", "AfmoeForCausalLM", kHeadNormsAfmoe),
    expert_family("aria_text", "AriaTextForCausalLM", kAria),
    expert_family("beam", "BeamForCausalLM", kHeadNormsBeam),
    expert_family("cohere2_moe", "Cohere2MoeForCausalLM", {}, RotaryOrder::kPairs),
    expert_family("ernie4_5_moe", "Ernie4_5_MoeForCausalLM", kErnie, RotaryOrder::kPairs),
    expert_family("gpt_oss", "GptOssForCausalLM", kGptOss),
    expert_family("granitemoe", "GraniteMoeForCausalLM", kGranite),
    expert_family("granitemoeshared", "GraniteMoeSharedForCausalLM", kGranite),
    expert_family("granitemoe_swa", "GraniteMoeSWAForCausalLM", kGraniteSwa),
    expert_family("llama4_text", "Llama4ForCausalLM", kLlama4, RotaryOrder::kPairs),
    expert_family("minimax_m3_vl_text", "MiniMaxM3VLForCausalLM", kHeadNormsMinimax3),
    {.model_type = "dbrx",
     .model_class = "DbrxForCausalLM",
     .prefix = "transformer.",
     .layer = "transformer.blocks.{0}",
     .names = kDbrx},
};

}  // namespace

std::span<const Family> expert_weights() { return kExpertFamilies; }

}  // namespace stepwright::huggingface
