// Names of weights of models whose mixers carry a state, by transformers 5.
#include "stepwright/huggingface/families.h"

namespace stepwright {
namespace {

/// Of layers that are one mixer or one feed-forward behind one norm (Mamba, Nemotron-H).
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
     Storage::kQkv,
     {".mixer.q_proj.weight", ".mixer.k_proj.weight", ".mixer.v_proj.weight"}},
    {"attention.output", Storage::kWhole, {".mixer.o_proj.weight"}},
    {"mlp.fc1", Storage::kWhole, {".mixer.up_proj.weight"}},
    {"mlp.fc2", Storage::kWhole, {".mixer.down_proj.weight"}},
    {"router.weight", Storage::kWhole, {".mixer.gate.weight"}},
    {"router.correction_bias", Storage::kWhole, {".mixer.gate.e_score_correction_bias"}},
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

/// Of layers that have a Mamba-2 in the place of attention, or beside it.
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
     Storage::kHalves,
     {".feed_forward.gate_proj.weight", ".feed_forward.up_proj.weight"}},
    {"mlp.fc2", Storage::kWhole, {".feed_forward.down_proj.weight"}},
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
     Storage::kQkv,
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
    {"mlp.fc1", Storage::kHalves, {".feed_forward.w1.weight", ".feed_forward.w3.weight"}},
    {"mlp.fc2", Storage::kWhole, {".feed_forward.w2.weight"}},
};

constexpr Family of_backbone(std::string_view model_type, std::string_view model_class,
                             std::span<const ParameterNames> own_names) {
  return {.model_type = model_type,
          .model_class = model_class,
          .prefix = "backbone.",
          .layer = "backbone.layers.{0}",
          .names = kBackbone,
          .own_names = own_names,
          .head_alias = {},
          .derived = {}};
}

constexpr Family of_layers(std::string_view model_type, std::string_view model_class,
                           std::span<const ParameterNames> names) {
  return {.model_type = model_type,
          .model_class = model_class,
          .prefix = "model.",
          .layer = "model.layers.{0}",
          .names = names,
          .own_names = {},
          .head_alias = {},
          .derived = {}};
}

constexpr Family kStateFamilies[] = {
    of_layers("bamba", "BambaForCausalLM", kMambaLayers),
    of_layers("falcon_h1", "FalconH1ForCausalLM", kMambaLayers),
    of_backbone("falcon_mamba", "FalconMambaForCausalLM", kStepsOfChannels),
    of_layers("lfm2", "Lfm2ForCausalLM", kLfm2),
    of_backbone("mamba", "MambaForCausalLM", kStepsOfChannels),
    of_backbone("mamba2", "Mamba2ForCausalLM", kStepsOfHeads),
    of_backbone("nemotron_h", "NemotronHForCausalLM", kStepsOfHeads),
};

}  // namespace

std::span<const Family> state_weights() { return kStateFamilies; }

}  // namespace stepwright
