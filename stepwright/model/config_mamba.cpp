// Readers of Mamba models, alone or among attention layers.
#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/utf8.h"
#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/model/layer_letters.h"

namespace stepwright::model {
namespace {

constexpr ModelFieldName kMambaNames[] = {{"layers", "num_hidden_layers"},
                                          {"hidden", "hidden_size"},
                                          {"vocab", "vocab_size"},
                                          {"state_mixer.heads", "num_heads"},
                                          {"state_mixer.groups", "n_groups"},
                                          {"state_mixer.state", "state_size"},
                                          {"state_mixer.kernel", "conv_kernel"}};

/// Makes every layer a mixer without attention or MLP; the model's heads are the mixer's.
void set_mixers_alone(TokenMixer mixer, ModelArchitecture& model) {
  model.position = PositionEncoding::kNone;
  model.heads = model.kv_heads = model.state_mixer->heads;
  model.head_dim = model.state_mixer->head_dim;
  set_layer_class_pattern(
      model, std::vector<LayerClass>(static_cast<std::size_t>(model.layers),
                                     {.mixer = mixer, .feed_forward = FeedForward::kNone}));
}

ModelArchitecture read_mamba_sizes(const ConfigJsonReader& fields, bool tied) {
  ModelArchitecture model;
  model.layers = fields.size({"num_hidden_layers", "n_layer"}, kMaxModelLayers);
  model.hidden = fields.size({"hidden_size", "d_model"});
  model.vocabulary = fields.size({"vocab_size"});
  model.norm_epsilon = fields.read_number_or("layer_norm_epsilon", 1e-5, 0, 1);
  model.tied = fields.read_tied_embeddings_flag(tied);
  return model;
}

// Tokens of one chunk in Mamba's scan (mamba_ssm, selective_scan_fwd_kernel.cuh: kChunkSize).
constexpr std::int64_t kScanChunk = 2048;

ModelArchitecture read_mamba(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_mamba_sizes(fields, true);
  const std::int64_t width = fields.size_or_default(
      "intermediate_size", fields.size_or_default("expand", 2) * model.hidden);
  const auto rank = fields.value("time_step_rank");
  const bool usual = !rank || rank->text() == "auto";
  model.state_mixer = RecurrentMixer{
      .heads = width,
      .state = fields.size_or_default("state_size", 16),
      .kernel = fields.size_or_default("conv_kernel", 4),
      .chunk = kScanChunk,
      .step_rank = usual ? (model.hidden + 15) / 16 : rank->integer(1, kMaxModelDimension),
      .convolution_bias = fields.flag("use_conv_bias", true),
      .bias = fields.flag("use_bias", false)};
  set_mixers_alone(TokenMixer::kMamba, model);
  note_unusual_mixer_activation(fields, "hidden_act", model);
  return model;
}

ModelArchitecture read_falcon_mamba(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_mamba(fields);
  add_uncounted_model_part("norms without weights of step sizes, B and C", model);
  return model;
}

/// Notes limits of step sizes in `model.beyond`: the model is described without them.
void note_step_limits(const ConfigJsonReader& fields, ModelArchitecture& model) {
  const auto limits = fields.value("time_step_limit");
  if (!limits) return;
  if (!limits->is_sequence() || limits->size() != 2) limits->fail("must be a list of two numbers");
  // Infinity is written as a mapping or a word, and means no limit.
  const DocumentNode high = limits->at(1);
  const bool finite = high.is_scalar() && high.text().find("nf") == std::string::npos;
  if (limits->at(0).number(0, 1e12) > 0 || finite)
    add_uncounted_model_part("limits of step sizes", model);
}

ModelArchitecture read_mamba2(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_mamba_sizes(fields, false);
  model.state_mixer = RecurrentMixer{.heads = fields.size_or_default("num_heads", 128),
                                     .head_dim = fields.size_or_default("head_dim", 64),
                                     .groups = fields.size_or_default("n_groups", 8),
                                     .state = fields.size_or_default("state_size", 128),
                                     .kernel = fields.size_or_default("conv_kernel", 4),
                                     .chunk = fields.size_or_default("chunk_size", 256),
                                     .convolution_bias = fields.flag("use_conv_bias", true),
                                     .bias = fields.flag("use_bias", false),
                                     .normed = true};
  const std::int64_t width = model.state_mixer->heads * model.state_mixer->head_dim;
  if (width != fields.size_or_default("expand", 2) * model.hidden) {
    fields.fail(fmt::format("num_heads x head_dim ({}) must be expand x hidden_size", width));
  }
  set_mixers_alone(TokenMixer::kMamba2, model);
  note_step_limits(fields, model);
  note_unusual_mixer_activation(fields, "hidden_act", model);
  return model;
}

std::int64_t expanded(const ConfigJsonReader& fields, const ModelArchitecture& model) {
  return fields.size_or_default("mamba_expand", 2) * model.hidden;
}

/// Reads Mamba-2 under the key names of Bamba and Granite; heads are `auto` or a number.
RecurrentMixer bamba_mixer(const ConfigJsonReader& fields, std::int64_t width) {
  const auto heads = fields.value("mamba_n_heads");
  const auto dim = fields.value("mamba_d_head");
  RecurrentMixer mixer{
      .heads = heads && heads->text() != "auto" ? heads->integer(1, kMaxModelDimension) : 128,
      .groups = fields.size_or_default("mamba_n_groups", 1),
      .state = fields.size_or_default("mamba_d_state", 256),
      .kernel = fields.size_or_default("mamba_d_conv", 4),
      .chunk = fields.size_or_default("mamba_chunk_size", 256),
      .convolution_bias = fields.flag("mamba_conv_bias", true),
      .bias = fields.flag("mamba_proj_bias", false),
      .normed = true};
  mixer.head_dim =
      dim && dim->text() != "auto" ? dim->integer(1, kMaxModelDimension) : width / mixer.heads;
  if (mixer.heads * mixer.head_dim != width) {
    fields.fail(fmt::format("mamba_n_heads x mamba_d_head must be {}", width));
  }
  return mixer;
}

ModelArchitecture read_bamba(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_common_config_keys(fields, {.positions = 262144, .kv_heads = 8, .norm_epsilon = 1e-5});
  model.head_dim = model.hidden / model.heads;
  model.rotary_fraction = fields.read_rotary_share_of_head(0.5);
  read_attention_biases(fields, model);
  model.mlp_bias = fields.flag("mlp_bias", false);
  model.state_mixer = bamba_mixer(fields, expanded(fields, model));
  std::vector<LayerClass> layers(static_cast<std::size_t>(model.layers),
                                 {.mixer = TokenMixer::kMamba2});
  if (const auto attending = fields.value("attn_layer_indices")) {
    for (std::size_t i = 0; i < attending->size(); ++i) {
      layers[static_cast<std::size_t>(attending->at(i).integer(0, model.layers - 1))].mixer =
          TokenMixer::kAttention;
    }
  }
  set_layer_class_pattern(model, std::move(layers));
  note_step_limits(fields, model);
  note_unusual_mixer_activation(fields, "hidden_act", model);
  return model;
}

/// Reads Falcon-H1: attention and Mamba-2 side by side in every layer. Only two of its twelve
/// factors have a field; `model.beyond` names the others.
ModelArchitecture read_falcon_h1(const ConfigJsonReader& fields) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = 8192, .kv_heads = 8, .norm_epsilon = 1e-5});
  read_attention_biases(fields, model);
  model.mlp_bias = fields.flag("mlp_bias", false);
  const auto width = fields.find({"mamba_d_ssm"});
  model.state_mixer =
      bamba_mixer(fields, width && width->is_null() ? expanded(fields, model)
                                                    : fields.size_or_default("mamba_d_ssm", 1024));
  model.state_mixer->normed = fields.flag("mamba_rms_norm", false);
  if (fields.flag("projectors_bias", false) != model.state_mixer->bias) {
    fields.fail(
        "projectors_bias must be as mamba_proj_bias: one bias of Mamba without the other "
        "is not supported");
  }
  constexpr double kLargestScale = 1e6;
  model.embedding_scale = fields.read_number_or("embedding_multiplier", 1, 0, kLargestScale);
  model.logit_scale = fields.read_number_or("lm_head_multiplier", 1, 0, kLargestScale);
  add_uncounted_model_part("factors of branches, keys and parts of Mamba's projection", model);
  set_layer_class_pattern(model, std::vector<LayerClass>(static_cast<std::size_t>(model.layers),
                                                         {.beside = TokenMixer::kMamba2}));
  return model;
}

/// True if a layer's number has the offset `{kind}_layer_offset` modulo `{kind}_layer_period`: such
/// layers attend (`kind` attn) or have experts (`kind` expert).
bool stands_at(const ConfigJsonReader& fields, std::string_view kind, std::int64_t layer,
               std::int64_t period, std::int64_t offset) {
  period = fields.size_or_default(fmt::format("{}_layer_period", kind), period);
  return layer % period == fields.size_or_default(fmt::format("{}_layer_offset", kind), offset, 0);
}

/// Reads Jamba: Mamba with norms of step sizes, B and C, among attention layers without positions.
ModelArchitecture read_jamba(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_common_config_keys(fields, {.positions = 262144, .kv_heads = 8});
  model.head_dim = model.hidden / model.heads;
  model.position = PositionEncoding::kNone;
  const auto rank = fields.value("mamba_dt_rank");
  const bool usual = !rank || rank->text() == "auto";
  model.state_mixer = RecurrentMixer{
      .heads = expanded(fields, model),
      .state = fields.size_or_default("mamba_d_state", 16),
      .kernel = fields.size_or_default("mamba_d_conv", 4),
      .chunk = kScanChunk,
      .step_rank = usual ? (model.hidden + 15) / 16 : rank->integer(1, kMaxModelDimension),
      .convolution_bias = fields.flag("mamba_conv_bias", true),
      .bias = fields.flag("mamba_proj_bias", false),
      .selection_normed = true};
  const std::int64_t count = fields.size_or_default({"num_experts", "num_local_experts"}, 16);
  std::vector<LayerClass> layers(static_cast<std::size_t>(model.layers));
  for (std::int64_t i = 0; i < model.layers; ++i) {
    LayerClass& layer = layers[static_cast<std::size_t>(i)];
    if (!stands_at(fields, "attn", i, 8, 4)) layer.mixer = TokenMixer::kMamba;
    const bool sparse = count > 1 && stands_at(fields, "expert", i, 2, 1);
    if (sparse) layer.feed_forward = FeedForward::kExperts;
  }
  set_layer_class_pattern(model, std::move(layers));
  if (model_has_feed_forward_kind(model, FeedForward::kExperts)) {
    model.experts = MixtureOfExperts{.count = count,
                                     .top_k = fields.size_or_default("num_experts_per_tok", 2),
                                     .ffn = model.ffn,
                                     .normalize_top_k = false};
  }
  note_unusual_mixer_activation(fields, "hidden_act", model);
  if (!has_recurrent_mixer(model)) model.state_mixer.reset();
  return model;
}

ModelArchitecture read_granite_hybrid(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_common_config_keys(fields, {.positions = 2048});
  model.head_dim = model.hidden / model.heads;
  read_attention_biases(fields, model);
  read_granite_scales(fields, 1, model);
  const auto position = fields.value("position_embedding_type");
  if (!position || position->text() != "rope") model.position = PositionEncoding::kNone;
  model.state_mixer = bamba_mixer(fields, expanded(fields, model));
  const std::int64_t shared = fields.size_or_default("shared_intermediate_size", 1024);
  const std::int64_t count = fields.size_or_default("num_local_experts", 8, 0);
  if (count > 0) {
    model.experts = MixtureOfExperts{.count = count,
                                     .top_k = fields.size_or_default("num_experts_per_tok", 2),
                                     .ffn = model.ffn,
                                     .shared_ffn = shared};
  } else {
    model.ffn = shared;  // Without routed experts the MLP is the shared expert.
  }
  const FeedForward behind = count > 0 ? FeedForward::kExperts : FeedForward::kDense;
  const LayerClass mamba{.mixer = TokenMixer::kMamba2, .feed_forward = behind};
  const LayerClass attention{.feed_forward = behind};
  std::vector<LayerClass> layers(static_cast<std::size_t>(model.layers), mamba);
  auto types = fields.value("layer_types");
  if (!types) types = fields.value("layers_block_type");
  if (types) {
    check_one_entry_per_layer(*types, model);
    layers = listed_layer_classes(*types, {{"linear_attention", mamba},
                                           {"mamba", mamba},
                                           {"attention", attention},
                                           {"full_attention", attention}});
  }
  set_layer_class_pattern(model, std::move(layers));
  if (has_recurrent_mixer(model)) note_step_limits(fields, model);
  note_unusual_mixer_activation(fields, "hidden_act", model);
  if (!has_recurrent_mixer(model)) model.state_mixer.reset();
  return model;
}

/// Reads the layers of Nemotron-H, each with one branch, from a word or, in older files, a letter
/// for each.
std::vector<LayerClass> nemotron_layers(const ConfigJsonReader& fields) {
  const LayerClass mamba{.mixer = TokenMixer::kMamba2, .feed_forward = FeedForward::kNone};
  const LayerClass attention{.feed_forward = FeedForward::kNone};
  const LayerClass mlp{.mixer = TokenMixer::kNone};
  const LayerClass experts{.mixer = TokenMixer::kNone, .feed_forward = FeedForward::kExperts};
  auto list = fields.value("layers_block_type");
  if (!list) list = fields.value("layer_types");
  if (list) {
    return listed_layer_classes(*list, {{"linear_attention", mamba},
                                        {"mamba", mamba},
                                        {"full_attention", attention},
                                        {"attention", attention},
                                        {"mlp", mlp},
                                        {"moe", experts}});
  }
  const auto pattern = fields.value("hybrid_override_pattern");
  if (!pattern) fields.fail("the key 'layers_block_type' is missing");
  auto layers = layers_from_hybrid_pattern(pattern->text());
  if (!layers) {
    pattern->fail(fmt::format("letters are M, *, - and E; it is '{}'",
                              one_line_printable_text(pattern->text())));
  }
  return *std::move(layers);
}

/// Reads Nemotron-H, which transformers builds with an untied head and without attention biases,
/// whatever the file says.
ModelArchitecture read_nemotron_h(const ConfigJsonReader& fields) {
  ModelArchitecture model;
  std::vector<LayerClass> layers = nemotron_layers(fields);
  model.layers = std::ssize(layers);
  model.hidden = fields.size({"hidden_size"});
  model.heads = fields.size({"num_attention_heads"});
  model.kv_heads = kv_heads(fields, model.heads, 8);
  model.head_dim = head_dim(fields, model, 128);
  model.ffn = fields.size({"intermediate_size"});
  model.vocabulary = fields.size({"vocab_size"});
  model.positions = fields.size_or_default("max_position_embeddings", 4096);
  model.position = PositionEncoding::kNone;
  model.gated = false;
  model.activation =
      fields.read_activation_function("mlp_hidden_act", ActivationFunction::kSquaredRelu);
  model.norm_epsilon = fields.read_number_or("layer_norm_epsilon", 1e-5, 0, 1);
  model.state_mixer = RecurrentMixer{.heads = fields.size_or_default("mamba_num_heads", 128),
                                     .head_dim = fields.size_or_default("mamba_head_dim", 64),
                                     .groups = fields.size_or_default("n_groups", 8),
                                     .state = fields.size_or_default("ssm_state_size", 128),
                                     .kernel = fields.size_or_default("conv_kernel", 4),
                                     .chunk = fields.size_or_default("chunk_size", 128),
                                     .convolution_bias = fields.flag("use_conv_bias", true),
                                     .bias = fields.flag("use_bias", false),
                                     .normed = true};
  const auto with = [&](FeedForward kind) {
    return std::ranges::any_of(layers, [&](const auto& l) { return l.feed_forward == kind; });
  };
  if (with(FeedForward::kExperts)) {
    model.experts = MixtureOfExperts{
        .count = fields.size_or_default({"n_routed_experts", "num_local_experts"}, 8),
        .top_k = fields.size_or_default("num_experts_per_tok", 2),
        .ffn = fields.size_or_default("moe_intermediate_size", 7688),
        .shared_ffn = fields.size_or_default("moe_shared_expert_intermediate_size", 7688, 0),
        .latent = fields.size_or_default("moe_latent_size", 0, 0),
        .correction_bias = true,
        .normalize_top_k = fields.flag("norm_topk_prob", true),
        .scoring = RouterScoring::kSigmoid,
        .groups = fields.size_or_default("n_group", 1),
        .top_groups = fields.size_or_default("topk_group", 1),
        .scale = fields.read_number_or("routed_scaling_factor", 1, 0, 1e6)};
  }
  fields.refuse_model_if_flag_is_true("mlp_bias", "biases of the MLPs");
  set_layer_class_pattern(model, std::move(layers));
  note_unusual_mixer_activation(fields, "mamba_hidden_act", model);
  if (!has_recurrent_mixer(model)) model.state_mixer.reset();
  return model;
}

const ModelConfigFamily kMambaFamilies[] = {
    {"bamba", read_bamba, usual_model_config_keys()},
    {"falcon_h1", read_falcon_h1, usual_model_config_keys()},
    {"falcon_mamba", read_falcon_mamba, kMambaNames},
    {"granitemoehybrid", read_granite_hybrid, usual_model_config_keys()},
    {"jamba", read_jamba, usual_model_config_keys()},
    {"mamba", read_mamba, kMambaNames},
    {"mamba2", read_mamba2, kMambaNames},
    {"nemotron_h", read_nemotron_h, usual_model_config_keys()},
};

}  // namespace

std::span<const ModelConfigFamily> mamba_families() { return kMambaFamilies; }

}  // namespace stepwright::model
