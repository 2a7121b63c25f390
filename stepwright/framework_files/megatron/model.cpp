#include "stepwright/framework_files/megatron/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/scalar.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/megatron/deepspeed_fields.h"
#include "stepwright/framework_files/megatron/experts.h"
#include "stepwright/framework_files/megatron/mixers.h"
#include "stepwright/framework_files/megatron/rules.h"
#include "stepwright/framework_files/megatron/vocabulary.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::framework_files {
namespace {

constexpr Named<model::Norm> kMegatronNorms[] = {{model::Norm::kRms, "RMSNorm"},
                                                 {model::Norm::kLayer, "LayerNorm"},
                                                 {model::Norm::kRms, "rmsnorm"},
                                                 {model::Norm::kLayer, "layernorm"}};
constexpr Named<model::PositionEncoding> kMegatronPositions[] = {
    {model::PositionEncoding::kRope, "rope"},
    {model::PositionEncoding::kLearned, "learned_absolute"},
    {model::PositionEncoding::kNone, "none"},
    {model::PositionEncoding::kLearned, "absolute"},
    {model::PositionEncoding::kRope, "rotary"},
    {model::PositionEncoding::kRope, "mrope"},
    {model::PositionEncoding::kAlibi, "alibi"}};
/// Activations in Megatron's words. A gated gelu is another function in Megatron; `quick_geglu` is
/// gpt-oss's activation, with an offset of the values that are gated.
constexpr Named<model::ActivationFunction> kMegatronActivations[] = {
    {model::ActivationFunction::kSilu, "swiglu"},
    {model::ActivationFunction::kGelu, "gelu"},
    {model::ActivationFunction::kGeluTanh, "bias_gelu"},
    {model::ActivationFunction::kSquaredRelu, "squared_relu"},
    {model::ActivationFunction::kGeluTanh, "openai_gelu"},
    {model::ActivationFunction::kQuickGelu, "quick_geglu"},
    {model::ActivationFunction::kClampedSwiglu, "quick_geglu"}};
constexpr double kGateOffset = 1;
constexpr double kGateClamp = 7;
constexpr double kLlama3LowFrequency = 1;
constexpr double kLlama3HighFrequency = 4;
constexpr std::int64_t kLlama3Positions = 8192;

/// Returns an integral number without a point or exponent, as arguments of integer type require.
DocumentTree number_tree(double value) {
  constexpr double kMostExact = 0x1p53;
  const bool whole = value == std::floor(value) && std::abs(value) < kMostExact;
  return whole ? DocumentTree(static_cast<std::int64_t>(value)) : DocumentTree(value);
}

void add_attention(DocumentTree& fields, const model::ModelArchitecture& model) {
  fields.set("num_attention_heads", model.heads);
  if (model.latent) {
    const model::LatentAttention& latent = *model.latent;
    fields.set("multi_latent_attention", true);
    if (latent.query_rank > 0) fields.set("q_lora_rank", latent.query_rank);
    fields.set("kv_lora_rank", latent.kv_rank);
    fields.set("qk_head_dim", latent.nope_head_dim);
    fields.set("qk_pos_emb_head_dim", latent.rope_head_dim);
    fields.set("v_head_dim", latent.value_head_dim);
    if (latent.index_heads > 0) {
      fields.set("experimental_attention_variant", "dsa");
      fields.set("dsa_indexer_n_heads", latent.index_heads);
      fields.set("dsa_indexer_head_dim", latent.index_head_dim);
      fields.set("dsa_indexer_topk", latent.index_top_k);
    }
  } else {
    fields.set("kv_channels", model.head_dim);
    if (model.kv_heads != model.heads) fields.set("num_query_groups", model.kv_heads);
  }
  if (model.qk_norm == model::QkNorm::kPlain) {
    fields.set("qk_l2_norm", true);
  } else if (model.qk_norm != model::QkNorm::kNone) {
    fields.set("qk_layernorm", true);
  }
  if (model.attention_gate) fields.set("attention_output_gate", true);
  if (model.sinks) fields.set("softmax_type", "learnable");
}

/// Default number of original positions in NVIDIA/Megatron-LM
/// megatron/core/transformer/transformer_config.py (MLATransformerConfig) and
/// megatron/core/models/gpt/gpt_model.py.
constexpr std::int64_t kYarnPositions = 4096;

/// Adds the settings of yarn, which have other names for latent attention.
void add_yarn(DocumentTree& fields, const model::ModelArchitecture& model) {
  const model::RotaryScaling& scaling = *model.rotary_scaling;
  const model::RotaryScaling usual = model::usual_rotary_scaling(model::RotaryScalingKind::kYarn);
  const std::string_view prefix = model.latent ? "" : "yarn_";
  const auto set = [&](std::string_view key, double value, double unless) {
    if (value != unless) fields.set(fmt::format("{}{}", prefix, key), number_tree(value));
  };
  fields.set(model.latent ? "rope_type" : "position_embedding_type", "yarn");
  set("rotary_scaling_factor", scaling.factor, 0);
  set("beta_fast", scaling.high_frequency, usual.high_frequency);
  set("beta_slow", scaling.low_frequency, usual.low_frequency);
  if (model.latent) {
    set("mscale", scaling.mscale, usual.mscale);
    set("mscale_all_dim", scaling.mscale_all_dim, usual.mscale_all_dim);
    return;
  }
  fields.set("yarn_original_max_position_embeddings", scaling.original_positions);
  if (!scaling.rounded) fields.set("yarn_correction_range_round_to_int", false);
}

model::RotaryScaling read_yarn(const FrameworkSettingsReader& fields,
                               const model::ModelArchitecture& model) {
  model::RotaryScaling scaling = model::usual_rotary_scaling(model::RotaryScalingKind::kYarn);
  const double factor = fields.number("rotary_scaling_factor", 40);
  scaling.factor = fields.number("yarn_rotary_scaling_factor", factor);
  scaling.original_positions =
      fields.integer("yarn_original_max_position_embeddings", kYarnPositions);
  scaling.high_frequency = fields.number("yarn_beta_fast", fields.number("beta_fast", 32));
  scaling.low_frequency = fields.number("yarn_beta_slow", fields.number("beta_slow", 1));
  scaling.rounded = fields.flag("yarn_correction_range_round_to_int", true);
  if (!model.latent) return scaling;
  scaling.mscale = fields.number("mscale", scaling.mscale);
  scaling.mscale_all_dim = fields.number("mscale_all_dim", scaling.mscale_all_dim);
  return scaling;
}

void add_positions(DocumentTree& fields, const model::ModelArchitecture& model) {
  const std::string_view word = name_of(kMegatronPositions, model.position);
  if (!word.empty()) fields.set("position_embedding_type", word);
  if (model.position != model::PositionEncoding::kRope) return;
  fields.set("rotary_base", number_tree(model.rotary_base));
  if (model.rotary_fraction != 1) fields.set("rotary_percent", model.rotary_fraction);
  if (model.latent && !model.rotary_scaling) fields.set("rope_type", "rope");
  if (!model.rotary_scaling) return;
  const model::RotaryScaling& scaling = *model.rotary_scaling;
  switch (scaling.kind) {
    case model::RotaryScalingKind::kLlama3:
      fields.set("rope_scaling", true);
      fields.set("rope_scaling_factor", number_tree(scaling.factor));
      break;
    case model::RotaryScalingKind::kLinear:
      fields.set("seq_len_interpolation_factor", number_tree(scaling.factor));
      break;
    case model::RotaryScalingKind::kYarn: add_yarn(fields, model); break;
    default: break;
  }
}

/// Reads latent attention: megatron/core/transformer/transformer_config.py, MLATransformerConfig.
model::LatentAttention read_latent(const FrameworkSettingsReader& fields,
                                   const plan::TrainingFramework& framework, ImportReport& report) {
  model::LatentAttention latent{
      .query_rank = 0,
      .kv_rank = read_integer(megatron_default_value("kv_lora_rank", framework)).value,
      .nope_head_dim = 128,
      .rope_head_dim = 64,
      .value_head_dim = 128};
  if (!fields.has("kv_lora_rank")) {
    report.add_assumption("job.model",
                          fmt::format("kv_lora_rank is {} by default", latent.kv_rank));
  }
  latent.query_rank = fields.integer("q_lora_rank", latent.query_rank);
  latent.kv_rank = fields.integer("kv_lora_rank", latent.kv_rank);
  latent.nope_head_dim = fields.integer("qk_head_dim", latent.nope_head_dim);
  latent.rope_head_dim = fields.integer("qk_pos_emb_head_dim", latent.rope_head_dim);
  latent.value_head_dim = fields.integer("v_head_dim", latent.value_head_dim);
  if (fields.word("experimental_attention_variant", "") == "dsa") {
    latent.index_heads = fields.integer("dsa_indexer_n_heads", 64);
    latent.index_head_dim = fields.integer("dsa_indexer_head_dim", latent.index_head_dim);
    latent.index_top_k = fields.integer("dsa_indexer_topk", latent.index_top_k);
  }
  return latent;
}

void read_softmax(const FrameworkSettingsReader& fields, model::ModelArchitecture& model,
                  ImportReport& report) {
  const std::string word = fields.word("softmax_type", "vanilla");
  model.sinks = word == "learnable";
  if (word == "off-by-one") {
    report.add_unmodelled_setting(*fields.find("softmax_type"),
                                  "the one that is added to every softmax's sum");
  }
}

void read_attention(const FrameworkSettingsReader& fields, model::ModelArchitecture& model,
                    const plan::TrainingFramework& framework, ImportReport& report) {
  // With grouped queries but no number of groups, one group serves all heads.
  const bool grouped = fields.flag("group_query_attention", false);
  model.kv_heads = fields.integer("num_query_groups", grouped ? 1 : model.heads);
  model.head_dim =
      fields.integer("kv_channels", std::max<std::int64_t>(1, model.hidden / model.heads));
  const bool norms = fields.flag("qk_layernorm", false);
  model.qk_norm = norms ? model::QkNorm::kHead : model::QkNorm::kNone;
  if (fields.flag("qk_l2_norm", false)) model.qk_norm = model::QkNorm::kPlain;
  model.attention_gate = fields.flag("attention_output_gate", false);
  read_softmax(fields, model, report);
  if (!fields.flag("multi_latent_attention", false)) return;
  const model::LatentAttention latent = read_latent(fields, framework, report);
  model.head_dim = latent.nope_head_dim + latent.rope_head_dim;
  model.kv_heads = model.heads;
  model.latent = latent;
  if (!norms) report.notes.push_back("The model is assumed to norm its latent projections.");
  model.qk_norm = model::QkNorm::kNone;
}

model::PositionEncoding read_position(const FrameworkSettingsReader& fields) {
  if (fields.word("position_embedding_type", "") == "yarn") return model::PositionEncoding::kRope;
  return fields.choice("position_embedding_type", kMegatronPositions,
                       model::PositionEncoding::kLearned);
}

void read_positions(const FrameworkSettingsReader& fields, model::ModelArchitecture& model) {
  const bool yarn = fields.word("position_embedding_type", "") == "yarn";
  model.position = read_position(fields);
  if (!fields.flag("add_position_embedding", true) &&
      model.position == model::PositionEncoding::kLearned) {
    model.position = model::PositionEncoding::kNone;
  }
  model.positions = fields.integer("max_position_embeddings", fields.integer("seq_length", 0));
  if (model.position != model::PositionEncoding::kRope) return;
  model.rotary_base = fields.number("rotary_base", model.rotary_base);
  model.rotary_fraction = fields.number("rotary_percent", 1);
  if (fields.flag("rope_scaling", false)) {
    model.rotary_scaling = {.kind = model::RotaryScalingKind::kLlama3,
                            .factor = fields.number("rope_scaling_factor", 8),
                            .low_frequency = kLlama3LowFrequency,
                            .high_frequency = kLlama3HighFrequency,
                            .original_positions = kLlama3Positions};
  } else if (const double factor = fields.number("seq_len_interpolation_factor", 1); factor != 1) {
    model.rotary_scaling = {.kind = model::RotaryScalingKind::kLinear, .factor = factor};
  } else if (yarn || fields.word("rope_type", model.latent ? "yarn" : "rope") == "yarn") {
    model.rotary_scaling = read_yarn(fields, model);
  }
}

/// Reads the activation. gpt-oss's gate multiplies the quick gelu of clamped gates by the clamped
/// ups plus one.
void read_activation(const FrameworkSettingsReader& fields, bool bias,
                     model::ModelArchitecture& model) {
  // Megatron's fused kernel of bias and gelu uses the tanh approximation.
  const bool fused = fields.flag("bias_gelu_fusion", true) && bias;
  model.activation = fields.choice(
      "activation", kMegatronActivations,
      fused ? model::ActivationFunction::kGeluTanh : model::ActivationFunction::kGelu);
  model.gated = model.activation == model::ActivationFunction::kSilu ||
                model.activation == model::ActivationFunction::kQuickGelu;
  const bool quick = model.activation == model::ActivationFunction::kQuickGelu;
  if (quick && fields.number("glu_linear_offset", 0) == kGateOffset) {
    fields.mark_setting_read("activation_func_clamp_value");
    model.activation = model::ActivationFunction::kClampedSwiglu;
  }
}

void read_mlp(const FrameworkSettingsReader& fields, model::ModelArchitecture& model) {
  const bool bias = fields.flag("add_bias_linear", true);
  model.mlp_bias = model.attention_output_bias = bias;
  model.qkv_bias = (bias || fields.flag("add_qkv_bias", false)) && !model.latent;
  read_activation(fields, bias, model);
  constexpr std::int64_t kMultiple = 64;
  const bool swiglu = model.activation == model::ActivationFunction::kSilu;
  const std::int64_t usual =
      swiglu ? 4 * model.hidden * 2 / 3 / kMultiple * kMultiple : 4 * model.hidden;
  model.ffn = fields.integer("ffn_hidden_size", usual);
}

/// Removes biases of parts that no layer has.
void drop_idle_biases(model::ModelArchitecture& model) {
  if (!model::model_has_feed_forward_kind(model, model::FeedForward::kDense))
    model.mlp_bias = false;
  if (!model::model_has_mixer_kind(model, model::TokenMixer::kAttention))
    model.attention_output_bias = model.qkv_bias = false;
}

/// Returns a setting that makes the model one which cannot be read, and why; nullopt if there is
/// none.
std::optional<WordRow> other_model(const FrameworkSettingsReader& fields) {
  if (has_unknown_hybrid_layer_letters(fields)) {
    return WordRow{"hybrid_layer_pattern",
                   "a hybrid of other layers than M (Mamba-2), * (attention), - (MLP) and E "
                   "(experts)"};
  }
  for (const WordRow& other : words_of_table_section("megatron/words", "other_models")) {
    const auto value = fields.node().find(other.first);
    if (!value || value->is_null()) continue;
    static constexpr std::string_view kReadable[] = {"false", "0.0", "gated_delta_net", "dsa"};
    const std::string text = value->is_scalar() ? value->text() : "";
    if (std::ranges::find(kReadable, text) == std::end(kReadable)) return other;
  }
  return std::nullopt;
}

void add_activation(DocumentTree& fields, const model::ModelArchitecture& model) {
  using enum model::ActivationFunction;
  const model::ActivationFunction kind = model.activation;
  const std::string_view word = name_of(kMegatronActivations, kind);
  const bool gated = kind == kSilu || kind == kQuickGelu || kind == kClampedSwiglu;
  if (word.empty() || model.gated != gated) return;
  fields.set("activation", word);
  if (kind == kGelu) fields.set("bias_gelu_fusion", false);
  if (kind != kClampedSwiglu) return;
  fields.set("glu_linear_offset", kGateOffset);
  fields.set("activation_func_clamp_value", kGateClamp);
}

/// True if linear layers have biases; queries, keys and values alone do not count.
bool has_bias(const model::ModelArchitecture& model) {
  return model.mlp_bias || model.attention_output_bias || (model.experts && model.experts->bias);
}

std::string_view name_of_size(std::string_view argument) {
  if (argument == "--num-layers") return "the number of layers";
  if (argument == "--hidden-size") return "the width";
  return argument == "--vocab-size" ? "the vocabulary" : "the number of heads";
}

/// Returns the missing sizes with the options that set them: "the vocabulary (--set vocab-size=N)";
/// empty if none is missing.
std::string lacking(std::initializer_list<std::pair<std::string_view, bool>> sizes) {
  std::vector<std::string> names;
  for (const auto& [argument, there] : sizes) {
    if (!there)
      names.push_back(fmt::format("{} (--set {}=N)", name_of_size(argument), argument.substr(2)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_megatron_model_fields(DocumentTree& fields, const model::ModelArchitecture& model) {
  fields.set("num_layers", model.layers);
  fields.set("hidden_size", model.hidden);
  fields.set("ffn_hidden_size", model.ffn > 0 || !model.experts ? model.ffn : model.experts->ffn);
  add_attention(fields, model);
  fields.set("normalization", name_of(kMegatronNorms, model.norm));
  fields.set("norm_epsilon", model.norm_epsilon);
  if (model.norm_unit_offset) fields.set("apply_layernorm_1p", true);
  add_activation(fields, model);
  const bool bias = has_bias(model);
  fields.set("add_bias_linear", bias);
  if (model.qkv_bias && !bias) fields.set("add_qkv_bias", true);
  add_positions(fields, model);
  fields.set("share_embeddings_and_output_weights", model.tied);
  fields.set("hidden_dropout", model.dropout);
  fields.set("attention_dropout", model.dropout);
  add_megatron_expert_fields(fields, model);
  if (!is_megatron_hybrid_model(model)) add_megatron_expert_layers(fields, model);
  add_megatron_mixer_fields(fields, model);
  if (model.extra_predicted_tokens() == 0) return;
  fields.set("mtp_num_layers", model.extra_predicted_tokens());
  fields.set("mtp_loss_scaling_factor", model.multi_token_weight);
}

DocumentTree megatron_model_sizes(const model::ModelArchitecture& model) {
  DocumentTree fields = DocumentTree::make_empty_mapping();
  add_megatron_model_fields(fields, model);
  fields.set("vocab_size", model.vocabulary);
  fields.set("make_vocab_size_divisible_by", 1);
  if (model.kv_heads != model.heads && !model.latent) fields.set("group_query_attention", true);
  return fields;
}

PlanDraft read_megatron_model_fields(const FrameworkSettingsReader& fields, const UserFacts& given,
                                     PlanDraft draft, ImportReport& report) {
  draft.model.reset();
  if (const auto other = other_model(fields)) {
    if (given.known_model) return draft;
    fields.find(other->first)
        ->fail_unsupported(fmt::format(
            "it is {}, which cannot be read; --model of a decoder with like sizes stands for it",
            other->second));
  }
  const auto pattern = hybrid_layer_count(fields);
  const auto layers = pattern ? pattern : fields.size("num_layers");
  const auto hidden = fields.size("hidden_size");
  const auto heads = fields.size("num_attention_heads");
  const auto vocabulary = read_vocabulary_size(fields, draft.start, report);
  draft.lacks = lacking({{"--num-layers", layers.has_value()},
                         {"--hidden-size", hidden.has_value()},
                         {"--num-attention-heads", heads.has_value()},
                         {"--vocab-size", vocabulary.has_value()}});
  if (!draft.lacks.empty()) return draft;
  model::ModelArchitecture model;
  model.name = "imported";
  model.layers = pattern ? *pattern : fields.find("num_layers")->integer(1, model::kMaxModelLayers);
  model.hidden = *hidden;
  model.heads = *heads;
  model.vocabulary = *vocabulary;
  model.norm = fields.choice("normalization", kMegatronNorms, model::Norm::kLayer);
  model.norm_bias = model.norm == model::Norm::kLayer;
  model.norm_unit_offset = fields.flag("apply_layernorm_1p", false);
  model.norm_epsilon = fields.number("norm_epsilon", model.norm_epsilon);
  read_attention(fields, model, draft.framework, report);
  read_positions(fields, model);
  read_mlp(fields, model);
  read_expert_fields(fields, model);
  read_expert_layers(fields, model);
  if (is_megatron_deepspeed(fields)) set_megatron_deepspeed_model(fields, model);
  read_megatron_mixer_fields(fields, model, report);
  drop_idle_biases(model);
  model.multi_token_layers = fields.integer("mtp_num_layers", 0, 0);
  model.count_multi_token = model.multi_token_layers > 0;
  model.multi_token_weight = fields.number("mtp_loss_scaling_factor", model.multi_token_weight);
  model.tied = fields.flag("share_embeddings_and_output_weights", true);
  constexpr double kUsualDropout = 0.1;
  model.dropout = fields.number("hidden_dropout", kUsualDropout);
  if (fields.number("attention_dropout", kUsualDropout) != model.dropout) {
    report.notes.push_back(fmt::format(
        "Dropout is assumed to be {} everywhere, like that of hidden states.", model.dropout));
  }
  model::check_model_sizes(model, fields.node().file_position_text());
  draft.model = model;
  return draft;
}

}  // namespace stepwright::framework_files
