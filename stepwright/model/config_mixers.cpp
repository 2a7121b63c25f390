// Decoders with mixers that carry a state along the sequence, alone or among layers that attend.
#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/utf8.h"
#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"
#include "stepwright/model/layer_order.h"

namespace stepwright {
namespace {

constexpr FieldName kMambaNames[] = {{"layers", "num_hidden_layers"},
                                     {"hidden", "hidden_size"},
                                     {"vocab", "vocab_size"},
                                     {"state_mixer.heads", "num_heads"},
                                     {"state_mixer.groups", "n_groups"},
                                     {"state_mixer.state", "state_size"},
                                     {"state_mixer.kernel", "conv_kernel"}};

/// The kind of a layer, by the words of a file.
using LayerWords = std::initializer_list<std::pair<std::string_view, LayerClass>>;

LayerClass layer_of(Node word, const LayerWords& words) {
  for (const auto& [known, layer] : words) {
    if (word.text() == known) return layer;
  }
  word.fail_unsupported(fmt::format("the layer type '{}'", printable(word.text())));
}

/// Layer by layer from a list of words.
std::vector<LayerClass> listed_layers(Node list, const LayerWords& words) {
  if (!list.is_sequence()) list.fail("must be a list of one word per layer");
  std::vector<LayerClass> layers;
  for (std::size_t i = 0; i < list.size(); ++i) layers.push_back(layer_of(list.at(i), words));
  return layers;
}

void check_length(Node list, const Architecture& model) {
  if (list.size() == static_cast<std::size_t>(model.layers)) return;
  list.fail(fmt::format("has {} entries; one per layer ({}) is wanted", list.size(), model.layers));
}

/// A model of mixers alone has no attention: its heads are those of the mixer.
void set_mixers_alone(Mixer mixer, Architecture& model) {
  model.position = Position::kNone;
  model.heads = model.kv_heads = model.state_mixer->heads;
  model.head_dim = model.state_mixer->head_dim;
  set_layers(model, std::vector<LayerClass>(static_cast<std::size_t>(model.layers),
                                            {.mixer = mixer, .feed_forward = FeedForward::kNone}));
}

Architecture read_mamba_sizes(const ConfigFields& fields, bool tied) {
  Architecture model;
  model.layers = fields.size({"num_hidden_layers", "n_layer"}, kLargestLayers);
  model.hidden = fields.size({"hidden_size", "d_model"});
  model.vocabulary = fields.size({"vocab_size"});
  model.norm_epsilon = fields.number_or("layer_norm_epsilon", 1e-5, 0, 1);
  model.tied = fields.tied(tied);
  return model;
}

constexpr std::int64_t kScanChunk = 2048;  // mamba_ssm, selective_scan_fwd_kernel.cuh: kChunkSize

/// `falcon_mamba` norms step sizes, B and C without weights.
Architecture read_mamba(const ConfigFields& fields) {
  Architecture model = read_mamba_sizes(fields, true);
  const std::int64_t width =
      fields.size_or("intermediate_size", fields.size_or("expand", 2) * model.hidden);
  const auto rank = fields.value("time_step_rank");
  const bool usual = !rank || rank->text() == "auto";
  model.state_mixer =
      StateMixer{.heads = width,
                 .state = fields.size_or("state_size", 16),
                 .kernel = fields.size_or("conv_kernel", 4),
                 .chunk = kScanChunk,
                 .step_rank = usual ? (model.hidden + 15) / 16 : rank->integer(1, kLargestSize),
                 .convolution_bias = fields.flag("use_conv_bias", true),
                 .bias = fields.flag("use_bias", false)};
  set_mixers_alone(Mixer::kMamba, model);
  return model;
}

Architecture read_mamba2(const ConfigFields& fields) {
  Architecture model = read_mamba_sizes(fields, false);
  model.state_mixer = StateMixer{.heads = fields.size_or("num_heads", 128),
                                 .head_dim = fields.size_or("head_dim", 64),
                                 .groups = fields.size_or("n_groups", 8),
                                 .state = fields.size_or("state_size", 128),
                                 .kernel = fields.size_or("conv_kernel", 4),
                                 .chunk = fields.size_or("chunk_size", 256),
                                 .convolution_bias = fields.flag("use_conv_bias", true),
                                 .bias = fields.flag("use_bias", false),
                                 .normed = true};
  const std::int64_t width = model.state_mixer->heads * model.state_mixer->head_dim;
  if (width != fields.size_or("expand", 2) * model.hidden) {
    fields.fail(fmt::format("num_heads x head_dim ({}) must be expand x hidden_size", width));
  }
  set_mixers_alone(Mixer::kMamba2, model);
  return model;
}

/// Mamba-2 as Bamba and Granite name it; heads are `auto` or a number.
StateMixer bamba_mixer(const ConfigFields& fields, const Architecture& model) {
  const std::int64_t width = fields.size_or("mamba_expand", 2) * model.hidden;
  const auto heads = fields.value("mamba_n_heads");
  const auto dim = fields.value("mamba_d_head");
  StateMixer mixer{
      .heads = heads && heads->text() != "auto" ? heads->integer(1, kLargestSize) : 128,
      .groups = fields.size_or("mamba_n_groups", 1),
      .state = fields.size_or("mamba_d_state", 256),
      .kernel = fields.size_or("mamba_d_conv", 4),
      .chunk = fields.size_or("mamba_chunk_size", 256),
      .convolution_bias = fields.flag("mamba_conv_bias", true),
      .bias = fields.flag("mamba_proj_bias", false),
      .normed = true};
  mixer.head_dim =
      dim && dim->text() != "auto" ? dim->integer(1, kLargestSize) : width / mixer.heads;
  if (mixer.heads * mixer.head_dim != width) {
    fields.fail(fmt::format("mamba_n_heads x mamba_d_head must be {}", width));
  }
  return mixer;
}

Architecture read_bamba(const ConfigFields& fields) {
  Architecture model =
      read_common(fields, {.positions = 262144, .kv_heads = 8, .norm_epsilon = 1e-5});
  model.head_dim = model.hidden / model.heads;
  model.rotary_fraction = fields.rotary_fraction(0.5);
  add_attention_biases(fields, model);
  model.mlp_bias = fields.flag("mlp_bias", false);
  model.state_mixer = bamba_mixer(fields, model);
  std::vector<LayerClass> layers(static_cast<std::size_t>(model.layers), {.mixer = Mixer::kMamba2});
  if (const auto attending = fields.value("attn_layer_indices")) {
    for (std::size_t i = 0; i < attending->size(); ++i) {
      layers[static_cast<std::size_t>(attending->at(i).integer(0, model.layers - 1))].mixer =
          Mixer::kAttention;
    }
  }
  set_layers(model, std::move(layers));
  return model;
}

Architecture read_granite_hybrid(const ConfigFields& fields) {
  Architecture model = read_common(fields, {.positions = 2048});
  model.head_dim = model.hidden / model.heads;
  add_attention_biases(fields, model);
  add_granite_scales(fields, 1, model);
  const auto position = fields.value("position_embedding_type");
  if (!position || position->text() != "rope") model.position = Position::kNone;
  model.state_mixer = bamba_mixer(fields, model);
  const std::int64_t shared = fields.size_or("shared_intermediate_size", 1024);
  const std::int64_t count = fields.size_or("num_local_experts", 8, 0);
  if (count > 0) {
    model.experts = Experts{.count = count,
                            .top_k = fields.size_or("num_experts_per_tok", 2),
                            .ffn = model.ffn,
                            .shared_ffn = shared};
  } else {
    model.ffn = shared;  // The shared expert alone.
  }
  const FeedForward behind = count > 0 ? FeedForward::kExperts : FeedForward::kDense;
  const LayerClass mamba{.mixer = Mixer::kMamba2, .feed_forward = behind};
  const LayerClass attention{.feed_forward = behind};
  std::vector<LayerClass> layers(static_cast<std::size_t>(model.layers), mamba);
  if (const auto types = fields.value("layer_types")) {
    check_length(*types, model);
    layers = listed_layers(*types, {{"linear_attention", mamba},
                                    {"mamba", mamba},
                                    {"attention", attention},
                                    {"full_attention", attention}});
  }
  set_layers(model, std::move(layers));
  if (!carries_state(model)) model.state_mixer.reset();
  return model;
}

/// A word, or a letter of older files, for each layer, which has one branch.
std::vector<LayerClass> nemotron_layers(const ConfigFields& fields) {
  const LayerClass mamba{.mixer = Mixer::kMamba2, .feed_forward = FeedForward::kNone};
  const LayerClass attention{.feed_forward = FeedForward::kNone};
  const LayerClass mlp{.mixer = Mixer::kNone};
  const LayerClass experts{.mixer = Mixer::kNone, .feed_forward = FeedForward::kExperts};
  if (const auto list = fields.value("layers_block_type")) {
    return listed_layers(*list, {{"linear_attention", mamba},
                                 {"mamba", mamba},
                                 {"full_attention", attention},
                                 {"attention", attention},
                                 {"mlp", mlp},
                                 {"moe", experts}});
  }
  const auto pattern = fields.value("hybrid_override_pattern");
  if (!pattern) fields.fail("the key 'layers_block_type' is missing");
  std::vector<LayerClass> layers;
  for (const char letter : pattern->text()) {
    switch (letter) {
      case 'M': layers.push_back(mamba); break;
      case '*': layers.push_back(attention); break;
      case '-': layers.push_back(mlp); break;
      case 'E': layers.push_back(experts); break;
      default:
        pattern->fail(
            fmt::format("letters are M, *, - and E; it is '{}'", printable(pattern->text())));
    }
  }
  return layers;
}

/// transformers builds it with tables of their own and without biases of attention, whatever its
/// file says.
Architecture read_nemotron_h(const ConfigFields& fields) {
  if (const auto rank = fields.value("moe_latent_size")) {
    rank->fail_unsupported("experts behind a projection of their own");
  }
  Architecture model;
  std::vector<LayerClass> layers = nemotron_layers(fields);
  model.layers = std::ssize(layers);
  model.hidden = fields.size({"hidden_size"});
  model.heads = fields.size({"num_attention_heads"});
  model.kv_heads = kv_heads(fields, model.heads, 8);
  model.head_dim = head_dim(fields, model, 128);
  model.ffn = fields.size({"intermediate_size"});
  model.vocabulary = fields.size({"vocab_size"});
  model.positions = fields.size_or("max_position_embeddings", 4096);
  model.position = Position::kNone;
  model.gated = false;
  model.activation = fields.activation("mlp_hidden_act", Activation::kSquaredRelu);
  model.norm_epsilon = fields.number_or("layer_norm_epsilon", 1e-5, 0, 1);
  model.state_mixer = StateMixer{.heads = fields.size_or("mamba_num_heads", 128),
                                 .head_dim = fields.size_or("mamba_head_dim", 64),
                                 .groups = fields.size_or("n_groups", 8),
                                 .state = fields.size_or("ssm_state_size", 128),
                                 .kernel = fields.size_or("conv_kernel", 4),
                                 .chunk = fields.size_or("chunk_size", 128),
                                 .convolution_bias = fields.flag("use_conv_bias", true),
                                 .bias = fields.flag("use_bias", false),
                                 .normed = true};
  const auto with = [&](FeedForward kind) {
    return std::ranges::any_of(layers, [&](const auto& l) { return l.feed_forward == kind; });
  };
  if (with(FeedForward::kExperts)) {
    model.experts =
        Experts{.count = fields.size_or("n_routed_experts", 8),
                .top_k = fields.size_or("num_experts_per_tok", 2),
                .ffn = fields.size_or("moe_intermediate_size", 7688),
                .shared_ffn = fields.size_or("moe_shared_expert_intermediate_size", 7688, 0),
                .correction_bias = true,
                .normalize_top_k = fields.flag("norm_topk_prob", true),
                .scoring = Scoring::kSigmoid,
                .groups = fields.size_or("n_group", 1),
                .top_groups = fields.size_or("topk_group", 1),
                .scale = fields.number_or("routed_scaling_factor", 1, 0, 1e6)};
  }
  fields.refuse("mlp_bias", "biases of the MLPs");
  set_layers(model, std::move(layers));
  if (!carries_state(model)) model.state_mixer.reset();
  return model;
}

/// Attention in the layers that a file lists, or in every fourth.
void read_delta_layers(const ConfigFields& fields, Architecture& model) {
  const FeedForward behind = model.experts ? FeedForward::kExperts : FeedForward::kDense;
  const LayerClass delta{.mixer = Mixer::kDeltaNet, .feed_forward = behind};
  const LayerClass attention{.feed_forward = behind};
  std::vector<LayerClass> layers;
  if (const auto types = fields.value("layer_types")) {
    check_length(*types, model);
    layers = listed_layers(*types, {{"linear_attention", delta}, {"full_attention", attention}});
  } else {
    const std::int64_t every = fields.size_or("full_attention_interval", 4);
    for (std::int64_t i = 0; i < model.layers; ++i) {
      layers.push_back((i + 1) % every != 0 ? delta : attention);
    }
  }
  const std::vector<LayerClass> placed = layers_of(model);  // where experts stand
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].feed_forward = placed[i].feed_forward;
  set_layers(model, std::move(layers));
}

/// Gated attention beside gated delta nets (Qwen3-Next): `head_dim` 256, a quarter of it rotated.
void add_delta_net(const ConfigFields& fields, Architecture& model) {
  model.head_dim = head_dim(fields, model, 256);
  model.rotary_fraction = fields.rotary_fraction(0.25);
  model.norm_unit_offset = true;
  model.qk_norm = QkNorm::kHead;
  model.attention_gate = true;
  add_attention_biases(fields, model);
  model.state_mixer = StateMixer{.heads = fields.size_or("linear_num_value_heads", 32),
                                 .head_dim = fields.size_or("linear_value_head_dim", 128),
                                 .groups = fields.size_or("linear_num_key_heads", 16),
                                 .state = fields.size_or("linear_key_head_dim", 128),
                                 .kernel = fields.size_or("linear_conv_kernel_dim", 4),
                                 .normed = true};
  read_delta_layers(fields, model);
  if (!carries_state(model)) model.state_mixer.reset();
}

Architecture read_qwen3_next(const ConfigFields& fields) {
  Architecture model = read_common(fields, {.positions = 32768, .kv_heads = 2});
  const std::int64_t shared = fields.size_or("shared_expert_intermediate_size", 512, 0);
  read_qwen_experts(
      fields,
      {.count = 512, .top_k = 10, .ffn = 512, .shared_ffn = shared, .shared_gate = shared > 0},
      model);
  if (model.experts) model.experts->normalize_top_k = fields.flag("norm_topk_prob", true);
  add_delta_net(fields, model);
  return model;
}

Architecture read_qwen3_5(const ConfigFields& fields) {
  Architecture model = read_common(fields, {.positions = 32768, .kv_heads = 4});
  add_delta_net(fields, model);
  return model;
}

/// The width of the gated MLP that a file's stands for (`Lfm2MLP`).
std::int64_t lfm2_ffn(const ConfigFields& fields, std::int64_t ffn) {
  if (!fields.flag("block_auto_adjust_ff_dim", true)) return ffn;
  const double multiplier = fields.number_or("block_ffn_dim_multiplier", 1, 0, 1e6);
  const std::int64_t multiple = fields.size_or("block_multiple_of", 256);
  const auto scaled = static_cast<std::int64_t>(multiplier * static_cast<double>(2 * ffn / 3));
  return (scaled + multiple - 1) / multiple * multiple;
}

Architecture read_lfm2(const ConfigFields& fields) {
  Architecture model = read_common(fields, {.positions = 128000, .kv_heads = 8, .tied = true});
  model.head_dim = model.hidden / model.heads;
  model.norm_epsilon = fields.number_or("norm_eps", 1e-5, 0, 1);
  model.ffn = lfm2_ffn(fields, model.ffn);
  model.qk_norm = QkNorm::kHead;
  const bool bias = fields.flag("conv_bias", false);
  model.state_mixer = StateMixer{.heads = model.hidden,
                                 .kernel = fields.size_or("conv_L_cache", 3),
                                 .convolution_bias = bias,
                                 .bias = bias};
  const LayerClass convolution{.mixer = Mixer::kShortConvolution};
  std::vector<LayerClass> layers(static_cast<std::size_t>(model.layers));
  if (const auto types = fields.value("layer_types")) {
    check_length(*types, model);
    layers = listed_layers(*types, {{"conv", convolution}, {"full_attention", {}}});
  } else if (const auto attending = fields.value("full_attn_idxs")) {
    layers.assign(layers.size(), convolution);
    for (std::size_t i = 0; i < attending->size(); ++i) {
      layers[static_cast<std::size_t>(attending->at(i).integer(0, model.layers - 1))] = {};
    }
  }
  set_layers(model, std::move(layers));
  if (!carries_state(model)) model.state_mixer.reset();
  return model;
}

const ConfigFamily kMixerFamilies[] = {
    {"bamba", read_bamba, usual_names()},
    {"falcon_mamba", read_mamba, kMambaNames},
    {"granitemoehybrid", read_granite_hybrid, usual_names()},
    {"lfm2", read_lfm2, usual_names(), 1e6},
    {"mamba", read_mamba, kMambaNames},
    {"mamba2", read_mamba2, kMambaNames},
    {"nemotron_h", read_nemotron_h, usual_names()},
    {"qwen3_5_text", read_qwen3_5, usual_names()},
    {"qwen3_next", read_qwen3_next, usual_names()},
};

}  // namespace

std::span<const ConfigFamily> mixer_families() { return kMixerFamilies; }

}  // namespace stepwright
