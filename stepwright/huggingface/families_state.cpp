// Names of weights of models whose mixers carry a state, by transformers 5.
#include "stepwright/huggingface/families.h"

namespace stepwright::huggingface {
namespace {

/// Names in layers that are one mixer or one feed-forward behind one norm (Mamba, Nemotron-H).
constexpr ParameterNames kBackbone[] = {
    {"embedding.word", Storage::kWhole, {"backbone.embeddings.weight"}},
    {"norm.final", Storage::kWhole, {"backbone.norm_f.weight"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"norm.attention", Storage::kWhole, {".norm.weight"}},
    {"norm.mlp", Storage::kWhole, {".norm.weight"}},
    {"mixer.in", Storage::kWhole, {".mixer.in_proj.weight"}},
    {"mixer.in_bias", Storage::kWhole, {".mixer.in_proj.bias"}},
    {"mixer.convolution", Storage::kFilters, {".mixer.conv1d.weight"}},
    {"mixer.convolution_bias", Storage::kWhole, {".mixer.conv1d.bias"}},
    {"mixer.decay", Storage::kWhole, {".mixer.A_log"}},
    {"mixer.skip", Storage::kWhole, {".mixer.D"}},
    {"mixer.norm", Storage::kWhole, {".mixer.norm.weight"}},
    {"mixer.out", Storage::kWhole, {".mixer.out_proj.weight"}},
    {"mixer.out_bias", Storage::kWhole, {".mixer.out_proj.bias"}},
    {"attention.qkv",
     Storage::kParts,
     {".mixer.q_proj.weight", ".mixer.k_proj.weight", ".mixer.v_proj.weight"}},
    {"attention.output", Storage::kWhole, {".mixer.o_proj.weight"}},
    {"mlp.fc1", Storage::kWhole, {".mixer.up_proj.weight"}},
    {"mlp.fc2", Storage::kWhole, {".mixer.down_proj.weight"}},
    {"router.weight", Storage::kWhole, {".mixer.gate.weight"}},
    {"router.correction_bias", Storage::kWhole, {".mixer.gate.e_score_correction_bias"}},
    {"experts.latent_in", Storage::kWhole, {".mixer.fc1_latent_proj.weight"}},
    {"experts.latent_out", Storage::kWhole, {".mixer.fc2_latent_proj.weight"}},
    {"experts.fc1", Storage::kExperts, {".mixer.experts.{1}.up_proj.weight"}},
    {"experts.fc2", Storage::kExperts, {".mixer.experts.{1}.down_proj.weight"}},
    {"shared.fc1", Storage::kWhole, {".mixer.shared_experts.up_proj.weight"}},
    {"shared.fc2", Storage::kWhole, {".mixer.shared_experts.down_proj.weight"}},
};

/// Steps of Mamba-2, and of Mamba, which projects them.
constexpr ParameterNames kStepsOfHeads[] = {
    {"mixer.step_bias", Storage::kWhole, {".mixer.dt_bias"}}};
constexpr ParameterNames kStepsOfChannels[] = {
    {"mixer.select", Storage::kWhole, {".mixer.x_proj.weight"}},
    {"mixer.step", Storage::kWhole, {".mixer.dt_proj.weight"}},
    {"mixer.step_bias", Storage::kWhole, {".mixer.dt_proj.bias"}}};

/// Names in layers that have a Mamba-2 in the place of attention, or beside it.
constexpr ParameterNames kMambaOwn[] = {
    {"norm.final", Storage::kWhole, {"model.final_layernorm.weight"}},
    {"norm.mlp", Storage::kWhole, {".pre_ff_layernorm.weight"}},
    {"mixer.in", Storage::kWhole, {".mamba.in_proj.weight"}},
    {"mixer.in_bias", Storage::kWhole, {".mamba.in_proj.bias"}},
    {"mixer.convolution", Storage::kFilters, {".mamba.conv1d.weight"}},
    {"mixer.convolution_bias", Storage::kWhole, {".mamba.conv1d.bias"}},
    {"mixer.step_bias", Storage::kWhole, {".mamba.dt_bias"}},
    {"mixer.decay", Storage::kWhole, {".mamba.A_log"}},
    {"mixer.skip", Storage::kWhole, {".mamba.D"}},
    {"mixer.norm", Storage::kWhole, {".mamba.norm.weight"}},
    {"mixer.out", Storage::kWhole, {".mamba.out_proj.weight"}},
    {"mixer.out_bias", Storage::kWhole, {".mamba.out_proj.bias"}},
    {"mlp.fc1",
     Storage::kParts,
     {".feed_forward.gate_proj.weight", ".feed_forward.up_proj.weight"}},
    {"mlp.fc1_bias",
     Storage::kParts,
     {".feed_forward.gate_proj.bias", ".feed_forward.up_proj.bias"}},
    {"mlp.fc2", Storage::kWhole, {".feed_forward.down_proj.weight"}},
    {"mlp.fc2_bias", Storage::kWhole, {".feed_forward.down_proj.bias"}},
};
constexpr auto kMambaLayers = joined_names(kUsualNames, kMambaOwn);

/// Short convolutions between layers that attend.
constexpr ParameterNames kLfm2[] = {
    {"embedding.word", Storage::kWhole, {"model.embed_tokens.weight"}},
    {"norm.final", Storage::kWhole, {"model.embedding_norm.weight"}},
    {"head.weight", Storage::kWhole, {"lm_head.weight"}},
    {"norm.attention", Storage::kWhole, {".operator_norm.weight"}},
    {"norm.mlp", Storage::kWhole, {".ffn_norm.weight"}},
    {"attention.qkv",
     Storage::kParts,
     {".self_attn.q_proj.weight", ".self_attn.k_proj.weight", ".self_attn.v_proj.weight"}},
    {"attention.q_norm", Storage::kWhole, {".self_attn.q_layernorm.weight"}},
    {"attention.k_norm", Storage::kWhole, {".self_attn.k_layernorm.weight"}},
    {"attention.output", Storage::kWhole, {".self_attn.out_proj.weight"}},
    {"mixer.in", Storage::kWhole, {".conv.in_proj.weight"}},
    {"mixer.in_bias", Storage::kWhole, {".conv.in_proj.bias"}},
    {"mixer.convolution", Storage::kFilters, {".conv.conv.weight"}},
    {"mixer.convolution_bias", Storage::kWhole, {".conv.conv.bias"}},
    {"mixer.out", Storage::kWhole, {".conv.out_proj.weight"}},
    {"mixer.out_bias", Storage::kWhole, {".conv.out_proj.bias"}},
    {"mlp.fc1", Storage::kParts, {".feed_forward.w1.weight", ".feed_forward.w3.weight"}},
    {"mlp.fc2", Storage::kWhole, {".feed_forward.w2.weight"}},
};

/// Granite's, whose MLPs and experts stand beside each other.
constexpr ParameterNames kGraniteHybrid[] = {
    {"norm.final", Storage::kWhole, {"model.norm.weight"}},
    {"norm.mlp", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"mlp.fc1", Storage::kWhole, {".shared_mlp.input_linear.weight"}},
    {"mlp.fc2", Storage::kWhole, {".shared_mlp.output_linear.weight"}},
    {"router.weight", Storage::kWhole, {".block_sparse_moe.router.layer.weight"}},
    {"experts.fc1", Storage::kStacked, {".block_sparse_moe.input_linear.weight"}},
    {"experts.fc2", Storage::kStacked, {".block_sparse_moe.output_linear.weight"}},
    {"shared.fc1", Storage::kWhole, {".shared_mlp.input_linear.weight"}},
    {"shared.fc2", Storage::kWhole, {".shared_mlp.output_linear.weight"}},
};

/// Mamba's first version, experts in some layers.
constexpr ParameterNames kJamba[] = {
    {"mixer.select", Storage::kWhole, {".mamba.x_proj.weight"}},
    {"mixer.select_norm",
     Storage::kParts,
     {".mamba.dt_layernorm.weight", ".mamba.b_layernorm.weight", ".mamba.c_layernorm.weight"}},
    {"mixer.step", Storage::kWhole, {".mamba.dt_proj.weight"}},
    {"mixer.step_bias", Storage::kWhole, {".mamba.dt_proj.bias"}},
    {"router.weight", Storage::kWhole, {".feed_forward.router.weight"}},
    {"experts.fc1",
     Storage::kExpertParts,
     {".feed_forward.experts.{1}.gate_proj.weight", ".feed_forward.experts.{1}.up_proj.weight"}},
    {"experts.fc2", Storage::kExperts, {".feed_forward.experts.{1}.down_proj.weight"}},
};

constexpr ParameterNames kLfm2Experts[] = {
    {"router.weight", Storage::kWhole, {".feed_forward.gate.weight"}},
    {"router.correction_bias", Storage::kWhole, {".feed_forward.expert_bias"}},
    {"experts.fc1",
     Storage::kExpertParts,
     {".feed_forward.experts.{1}.w1.weight", ".feed_forward.experts.{1}.w3.weight"}},
    {"experts.fc2", Storage::kExperts, {".feed_forward.experts.{1}.w2.weight"}},
};

/// Delta nets beside attention whose gates stand with the queries, head by head (Qwen3-Next).
constexpr ParameterNames kDeltaOwn[] = {
    {"norm.final", Storage::kWhole, {"model.norm.weight"}},
    {"norm.mlp", Storage::kWhole, {".post_attention_layernorm.weight"}},
    {"attention.qkv",
     Storage::kByHead,
     {".self_attn.q_proj.weight", ".self_attn.k_proj.weight", ".self_attn.v_proj.weight"},
     {"03", "1", "2"}},
    {"attention.qkv_bias",
     Storage::kByHead,
     {".self_attn.q_proj.bias", ".self_attn.k_proj.bias", ".self_attn.v_proj.bias"},
     {"03", "1", "2"}},
    {"attention.q_norm", Storage::kWhole, {".self_attn.q_norm.weight"}},
    {"attention.k_norm", Storage::kWhole, {".self_attn.k_norm.weight"}},
    {"mixer.convolution", Storage::kFilters, {".linear_attn.conv1d.weight"}},
    {"mixer.step_bias", Storage::kWhole, {".linear_attn.dt_bias"}},
    {"mixer.decay", Storage::kWhole, {".linear_attn.A_log"}},
    {"mixer.norm", Storage::kWhole, {".linear_attn.norm.weight"}},
    {"mixer.out", Storage::kWhole, {".linear_attn.out_proj.weight"}},
    {"mlp.fc1", Storage::kParts, {".mlp.gate_proj.weight", ".mlp.up_proj.weight"}},
    {"mlp.fc2", Storage::kWhole, {".mlp.down_proj.weight"}},
    {"router.weight", Storage::kWhole, {".mlp.gate.weight"}},
    {"experts.fc1",
     Storage::kExpertParts,
     {".mlp.experts.{1}.gate_proj.weight", ".mlp.experts.{1}.up_proj.weight"}},
    {"experts.fc2", Storage::kExperts, {".mlp.experts.{1}.down_proj.weight"}},
    {"shared.fc1",
     Storage::kParts,
     {".mlp.shared_expert.gate_proj.weight", ".mlp.shared_expert.up_proj.weight"}},
    {"shared.fc2", Storage::kWhole, {".mlp.shared_expert.down_proj.weight"}},
    {"shared.gate", Storage::kWhole, {".mlp.shared_expert_gate.weight"}},
};

/// Projections of a delta net: queries, keys, values, gates, strengths, decays.
constexpr ParameterNames kDeltaByGroup[] = {
    {"mixer.in",
     Storage::kByGroup,
     {".linear_attn.in_proj_qkvz.weight", ".linear_attn.in_proj_ba.weight"},
     {"0123", "45"}},
};
constexpr ParameterNames kDeltaInParts[] = {
    {"mixer.in",
     Storage::kParts,
     {".linear_attn.in_proj_qkv.weight", ".linear_attn.in_proj_z.weight",
      ".linear_attn.in_proj_b.weight", ".linear_attn.in_proj_a.weight"},
     {"012", "3", "4", "5"}},
};
/// Norms of layers that attend stand on results, and one has the name of another's before the MLP.
constexpr ParameterNames kOlmoHybrid[] = {
    {"norm.attention", Storage::kWhole, {".attention_layer_norm.weight"}},
    {"norm.attention_out", Storage::kWhole, {".feedforward_layer_norm.weight"}},
    {"norm.mlp", Storage::kWhole, {".feedforward_layer_norm.weight"}},
    {"norm.mlp_out", Storage::kWhole, {".post_feedforward_layernorm.weight"}},
    {"attention.qkv",
     Storage::kParts,
     {".self_attn.q_proj.weight", ".self_attn.k_proj.weight", ".self_attn.v_proj.weight"}},
    {"mixer.in",
     Storage::kParts,
     {".linear_attn.q_proj.weight", ".linear_attn.k_proj.weight", ".linear_attn.v_proj.weight",
      ".linear_attn.g_proj.weight", ".linear_attn.b_proj.weight", ".linear_attn.a_proj.weight"}},
    {"mixer.convolution",
     Storage::kPartFilters,
     {".linear_attn.q_conv1d.weight", ".linear_attn.k_conv1d.weight",
      ".linear_attn.v_conv1d.weight"}},
    {"mixer.norm", Storage::kWhole, {".linear_attn.o_norm.weight"}},
    {"mixer.out", Storage::kWhole, {".linear_attn.o_proj.weight"}},
};
constexpr auto kDeltaLayers = joined_names(kDeltaOwn, kUsualNames);

constexpr Family of_backbone(std::string_view model_type, std::string_view model_class,
                             std::span<const ParameterNames> own_names) {
  return {.model_type = model_type,
          .model_class = model_class,
          .prefix = "backbone.",
          .layer = "backbone.layers.{0}",
          .names = kBackbone,
          .own_names = own_names};
}

constexpr Family of_layers(std::string_view model_type, std::string_view model_class,
                           std::span<const ParameterNames> names,
                           std::span<const ParameterNames> own_names = {}) {
  return {.model_type = model_type,
          .model_class = model_class,
          .prefix = "model.",
          .layer = "model.layers.{0}",
          .names = names,
          .own_names = own_names};
}

constexpr Family kStateFamilies[] = {
    of_layers("bamba", "BambaForCausalLM", kMambaLayers),
    of_layers("falcon_h1", "FalconH1ForCausalLM", kMambaLayers),
    of_backbone("falcon_mamba", "FalconMambaForCausalLM", kStepsOfChannels),
    of_layers("granitemoehybrid", "GraniteMoeHybridForCausalLM", kMambaLayers, kGraniteHybrid),
    of_layers("jamba", "JambaForCausalLM", kMambaLayers, kJamba),
    of_layers("lfm2", "Lfm2ForCausalLM", kLfm2),
    of_layers("lfm2_moe", "Lfm2MoeForCausalLM", kLfm2, kLfm2Experts),
    of_layers("olmo_hybrid", "OlmoHybridForCausalLM", kDeltaLayers, kOlmoHybrid),
    of_layers("qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", kDeltaLayers, kDeltaInParts),
    of_layers("qwen3_5_text", "Qwen3_5ForCausalLM", kDeltaLayers, kDeltaInParts),
    of_layers("qwen3_next", "Qwen3NextForCausalLM", kDeltaLayers, kDeltaByGroup),
    of_backbone("mamba", "MambaForCausalLM", kStepsOfChannels),
    of_backbone("mamba2", "Mamba2ForCausalLM", kStepsOfHeads),
    of_backbone("nemotron_h", "NemotronHForCausalLM", kStepsOfHeads),
};

}  // namespace

std::span<const Family> state_weights() { return kStateFamilies; }

}  // namespace stepwright::huggingface
