// Readers of models with gated delta nets or short convolutions among attention layers.
#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_experts.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::model {
namespace {

/// Sets which layers attend: those that the file's `layer_types` list or, without a list, every
/// fourth. The others are delta nets.
void read_delta_layers(const ConfigJsonReader& fields, ModelArchitecture& model) {
  const FeedForward behind = model.experts ? FeedForward::kExperts : FeedForward::kDense;
  const LayerClass delta{.mixer = TokenMixer::kDeltaNet, .feed_forward = behind};
  const LayerClass attention{.feed_forward = behind};
  std::vector<LayerClass> layers;
  if (const auto types = fields.value("layer_types")) {
    check_one_entry_per_layer(*types, model);
    layers =
        listed_layer_classes(*types, {{"linear_attention", delta}, {"full_attention", attention}});
  } else {
    const std::int64_t every = fields.size_or_default("full_attention_interval", 4);
    for (std::int64_t i = 0; i < model.layers; ++i) {
      layers.push_back((i + 1) % every != 0 ? delta : attention);
    }
  }
  const std::vector<LayerClass> placed =
      model_layer_classes(model);  // Keeps which layers have experts.
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].feed_forward = placed[i].feed_forward;
  set_layer_class_pattern(model, std::move(layers));
}

/// Sets gated delta nets and gated attention (Qwen3-Next): `head_dim` 256, a quarter of it rotated.
void add_delta_net(const ConfigJsonReader& fields, ModelArchitecture& model) {
  model.head_dim = head_dim(fields, model, 256);
  model.rotary_fraction = fields.read_rotary_share_of_head(0.25);
  model.norm_unit_offset = true;
  model.qk_norm = QkNorm::kHead;
  model.attention_gate = true;
  read_attention_biases(fields, model);
  model.state_mixer =
      RecurrentMixer{.heads = fields.size_or_default("linear_num_value_heads", 32),
                     .head_dim = fields.size_or_default("linear_value_head_dim", 128),
                     .groups = fields.size_or_default("linear_num_key_heads", 16),
                     .state = fields.size_or_default("linear_key_head_dim", 128),
                     .kernel = fields.size_or_default("linear_conv_kernel_dim", 4),
                     .normed = true};
  read_delta_layers(fields, model);
  note_unusual_mixer_activation(fields, "hidden_act", model);
  if (!has_recurrent_mixer(model)) model.state_mixer.reset();
}

/// Reads experts whose weights add up to 1, and a shared expert behind a gate.
void add_gated_experts(const ConfigJsonReader& fields, MixtureOfExperts fallback,
                       ModelArchitecture& model) {
  fallback.shared_ffn = fields.size_or_default("shared_expert_intermediate_size", 512, 0);
  fallback.shared_gate = fallback.shared_ffn > 0;
  read_qwen_experts(fields, fallback, model);
  if (model.experts) model.experts->normalize_top_k = fields.flag("norm_topk_prob", true);
}

ModelArchitecture read_qwen3_next(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_common_config_keys(fields, {.positions = 32768, .kv_heads = 2});
  add_gated_experts(fields, {.count = 512, .top_k = 10, .ffn = 512}, model);
  add_delta_net(fields, model);
  return model;
}

ModelArchitecture read_qwen3_5_moe(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_common_config_keys(fields, {.positions = 32768, .kv_heads = 2, .only_experts = true});
  add_gated_experts(fields, {.count = 256, .top_k = 8, .ffn = 512}, model);
  if (!model.experts) fields.fail("num_experts must be at least 1");
  add_delta_net(fields, model);
  return model;
}

/// Reads OLMo's hybrid: norms are on the results of layers that attend, and before the other
/// layers.
ModelArchitecture read_olmo_hybrid(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_llama_like_model(fields, {.positions = 65536});
  model.qk_norm = QkNorm::kWhole;
  model.norm_placement = NormPlacement::kAfter;
  read_attention_biases(fields, model);
  RecurrentMixer mixer{.heads = fields.size_or_default("linear_num_value_heads", model.heads),
                       .groups = fields.size_or_default("linear_num_key_heads", model.heads),
                       .kernel = fields.size_or_default("linear_conv_kernel_dim", 4),
                       .normed = true};
  mixer.state =
      fields.size_or_default("linear_key_head_dim", 3 * model.hidden / (4 * mixer.groups));
  mixer.head_dim = fields.size_or_default("linear_value_head_dim", 2 * mixer.state);
  model.state_mixer = mixer;
  read_delta_layers(fields, model);
  std::vector<LayerClass> layers = model_layer_classes(model);
  for (LayerClass& layer : layers) {
    if (!layer.attends()) layer.norms = NormPlacement::kBefore;
  }
  set_layer_class_pattern(model, std::move(layers));
  note_unusual_mixer_activation(fields, "hidden_act", model);
  if (!has_recurrent_mixer(model)) {
    model.state_mixer.reset();
    return model;
  }
  if (fields.flag("linear_allow_neg_eigval", true)) {
    add_uncounted_model_part("strengths of delta nets up to two", model);
  }
  if (model.norm_epsilon != 1e-5) model.inner_norm_epsilon = 1e-5;
  return model;
}

ModelArchitecture read_qwen3_5(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_common_config_keys(fields, {.positions = 32768, .kv_heads = 4});
  add_delta_net(fields, model);
  return model;
}

/// Returns the width of the gated MLP that transformers derives from the width in the file
/// (`Lfm2MLP`).
std::int64_t lfm2_ffn(const ConfigJsonReader& fields, std::int64_t ffn) {
  if (!fields.flag("block_auto_adjust_ff_dim", true)) return ffn;
  const double multiplier = fields.read_number_or("block_ffn_dim_multiplier", 1, 0, 1e6);
  const std::int64_t multiple = fields.size_or_default("block_multiple_of", 256);
  const auto scaled = static_cast<std::int64_t>(multiplier * static_cast<double>(2 * ffn / 3));
  return (scaled + multiple - 1) / multiple * multiple;
}

/// Makes the layers that do not attend short convolutions; the feed-forwards stay as they are.
void add_convolutions(const ConfigJsonReader& fields, ModelArchitecture& model) {
  model.head_dim = model.hidden / model.heads;
  model.norm_epsilon = fields.read_number_or("norm_eps", 1e-5, 0, 1);
  model.qk_norm = QkNorm::kHead;
  const bool bias = fields.flag("conv_bias", false);
  model.state_mixer = RecurrentMixer{.heads = model.hidden,
                                     .kernel = fields.size_or_default("conv_L_cache", 3),
                                     .convolution_bias = bias,
                                     .bias = bias};
  std::vector<LayerClass> mixers(static_cast<std::size_t>(model.layers));
  const LayerClass convolution{.mixer = TokenMixer::kShortConvolution};
  if (const auto types = fields.value("layer_types")) {
    check_one_entry_per_layer(*types, model);
    mixers = listed_layer_classes(*types, {{"conv", convolution}, {"full_attention", {}}});
  } else if (const auto attending = fields.value("full_attn_idxs")) {
    mixers.assign(mixers.size(), convolution);
    for (std::size_t i = 0; i < attending->size(); ++i) {
      mixers[static_cast<std::size_t>(attending->at(i).integer(0, model.layers - 1))] = {};
    }
  }
  std::vector<LayerClass> layers = model_layer_classes(model);
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].mixer = mixers[i].mixer;
  set_layer_class_pattern(model, std::move(layers));
  if (!has_recurrent_mixer(model)) model.state_mixer.reset();
}

ModelArchitecture read_lfm2(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_common_config_keys(fields, {.positions = 128000, .kv_heads = 8, .tied = true});
  model.ffn = lfm2_ffn(fields, model.ffn);
  add_convolutions(fields, model);
  return model;
}

ModelArchitecture read_lfm2_moe(const ConfigJsonReader& fields) {
  const bool tied = fields.flag("tie_embedding", true);
  ModelArchitecture model =
      read_common_config_keys(fields, {.positions = 128000, .kv_heads = 8, .tied = tied});
  model.experts = read_sigmoid_routed_experts(fields, {.count = 32, .top_k = 4, .ffn = 1792}, 0);
  model.experts->correction_bias = fields.flag("use_expert_bias", true);
  const std::int64_t first = fields.size_or_default("num_dense_layers", 2, 0);
  replace_experts_by_dense_mlp(model, [first](std::int64_t layer) { return layer < first; });
  add_convolutions(fields, model);
  return model;
}

const ModelConfigFamily kDeltaFamilies[] = {
    {"lfm2", read_lfm2, usual_model_config_keys(), 1e6},
    {"lfm2_moe", read_lfm2_moe, usual_model_config_keys(), 1e6},
    {"olmo_hybrid", read_olmo_hybrid, usual_model_config_keys()},
    {"qwen3_5_moe_text", read_qwen3_5_moe, usual_model_config_keys()},
    {"qwen3_5_text", read_qwen3_5, usual_model_config_keys()},
    {"qwen3_next", read_qwen3_next, usual_model_config_keys()},
};

}  // namespace

std::span<const ModelConfigFamily> delta_net_families() { return kDeltaFamilies; }

}  // namespace stepwright::model
