#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/name.h"
#include "stepwright/core/utf8.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/inline_fields.h"
#include "stepwright/model/inline_keys.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/model/unknown_model.h"

namespace stepwright::model {
namespace {

using Words = std::vector<std::string_view>;

/// Fails if a mapping has a key that is neither in `known` nor in the tables.
template <class... Tables>
void check_keys(DocumentNode node, Words known, const Tables&... tables) {
  const auto add = [&](const auto& table) {
    for (const auto& key : table) known.push_back(key.key);
  };
  (add(tables), ...);
  node.allow_only_keys(known);
}

void read_value(DocumentNode given, double low, double high, std::int64_t& value) {
  value = given.integer(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
}
void read_value(DocumentNode given, double low, double high, double& value) {
  value = given.number(low, high);
}
void read_value(DocumentNode given, double /*low*/, double /*high*/, bool& value) {
  value = given.boolean();
}

template <class InlineModelPart, std::size_t kCount>
void read_keys(const InlineModelReader& fields, const ModelKey<InlineModelPart> (&keys)[kCount],
               InlineModelPart& into) {
  for (const ModelKey<InlineModelPart>& key : keys) {
    const auto given = fields.value(key.key);
    const auto* size = std::get_if<std::int64_t InlineModelPart::*>(&key.value);
    if (!given && size != nullptr && static_cast<double>(into.**size) < key.low) {
      fields.fail_missing_key(key.key);
    }
    if (!given) continue;
    std::visit([&](auto value) { read_value(*given, key.low, key.high, into.*value); }, key.value);
  }
}

void check_version(DocumentNode node) {
  const auto version = node.find("stepwright");
  if (!version) return;
  if (version->text() == "model/1") return;
  version->fail(
      fmt::format("must be model/1; it is '{}'", one_line_printable_text(version->text())));
}

/// Returns the base model as a document with the same keys; nullopt if there is no `base`.
std::optional<YamlJsonDocument> read_base(DocumentNode node) {
  const auto key = node.find("base");
  if (!key || key->is_null()) return std::nullopt;
  const std::string name = key->text();
  const auto model = built_in_model(name);
  if (!model) key->fail(unknown_model_message(name));
  return YamlJsonDocument::parse(inline_model_mapping(*model).dump(),
                                 fmt::format("built-in model {}", name));
}

std::string name_of(const InlineModelReader& fields) {
  if (const auto name = fields.inline_mapping().find("name"); name && !name->is_null())
    return read_name(*name);
  const auto base = fields.inline_mapping().find("base");
  return base && !base->is_null() ? base->text() + "-custom" : "custom";
}

std::int64_t run_length(const InlineModelReader& run) {
  check_keys(run.inline_mapping(), {"count", "mixer", "beside", "feed_forward", "norms"},
             kLayerKeys);
  const auto count = run.value("count");
  return count ? count->integer(1, kMaxModelLayers) : 1;
}

/// Reads the number of layers: a number, or the sum of the runs in a list.
std::int64_t layer_count(const InlineModelReader& fields) {
  const auto list = fields.value("layers");
  if (!list || !list->is_sequence()) return fields.size("layers", kMaxModelLayers);
  std::int64_t layers = 0;
  for (std::size_t i = 0; i < list->size(); ++i) {
    layers += run_length(InlineModelReader(list->at(i), std::nullopt));
    if (layers > kMaxModelLayers) list->fail(fmt::format("at most {} layers", kMaxModelLayers));
  }
  if (layers == 0) list->fail("must have a layer");
  return layers;
}

void read_sizes(const InlineModelReader& fields, ModelArchitecture& model) {
  model.layers = layer_count(fields);
  model.hidden = fields.size("hidden");
  model.heads = fields.size("heads");
  model.kv_heads = fields.size_or_default("kv_heads", model.heads);
  model.vocabulary = fields.size("vocab");
  model.positions = fields.size_or_default("positions", 0, 0);
}

/// Reads a word; true means a norm of each head with one weight.
QkNorm qk_norm(const InlineModelReader& fields) {
  const auto given = fields.value("qk_norm");
  if (given && (given->text() == "true" || given->text() == "false")) {
    return given->boolean() ? QkNorm::kHead : QkNorm::kNone;
  }
  return fields.choice("qk_norm", kQkNormNames, QkNorm::kNone);
}

void read_blocks(const InlineModelReader& fields, ModelArchitecture& model) {
  model.norm = fields.choice("norm", kNormNames, Norm::kRms);
  model.norm_bias = fields.flag("norm_bias", model.norm == Norm::kLayer);
  model.norm_placement =
      fields.choice("norm_placement", kNormPlacementNames, NormPlacement::kBefore);
  read_keys(fields, kNormKeys, model);
  model.gated = fields.flag("gated", model.norm == Norm::kRms);
  model.activation =
      fields.choice("activation", kActivationNames,
                    model.gated ? ActivationFunction::kSilu : ActivationFunction::kGelu);
  model.position = fields.choice("position", kPositionNames, PositionEncoding::kRope);
  read_keys(fields, kRotaryKeys, model);
  model.qkv_bias = fields.read_flag_or_group_flag("qkv_bias", "bias");
  model.attention_output_bias = fields.read_flag_or_group_flag("attention_output_bias", "bias");
  model.mlp_bias = fields.read_flag_or_group_flag("mlp_bias", "bias");
  model.qk_norm = qk_norm(fields);
  read_keys(fields, kBlockKeys, model);
  model.tied = fields.flag("tied");
  model.dropout = fields.read_number_or("dropout", 0, 0, 1);
  read_keys(fields, kMultiTokenKeys, model);
  if (const auto beyond = fields.value("beyond")) model.beyond = beyond->text();
}

std::vector<double> numbers(const InlineModelReader& fields, std::string_view key) {
  const auto list = fields.value(key);
  if (list && !list->is_sequence()) list->fail("must be a list of numbers");
  std::vector<double> found;
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    found.push_back(list->at(i).number(0, kMaxModelDimension));
  }
  return found;
}

void read_rotary_scaling(const InlineModelReader& fields, ModelArchitecture& model) {
  const auto nested = fields.reader_of_nested_mapping("rotary_scaling");
  if (!nested) return;
  check_keys(nested->inline_mapping(), {"kind", "short_factors", "long_factors"}, kScalingKeys,
             kRotaryScalingKeys, kOriginalRotaryScalingKeys, kRotaryAmplitudeKeys,
             kYarnRotaryScalingKeys);
  if (!nested->value("kind")) nested->inline_mapping().fail("the key 'kind' is missing");
  const auto kind = nested->choice("kind", kRotaryScalingNames, RotaryScalingKind::kLinear);
  const RotaryScalingKeyGroups parts = scaling_parts(kind);
  RotaryScaling scaling = usual_rotary_scaling(kind);
  read_keys(*nested, kScalingKeys, scaling);
  if (parts.turns) read_keys(*nested, kRotaryScalingKeys, scaling);
  if (parts.original) read_keys(*nested, kOriginalRotaryScalingKeys, scaling);
  if (parts.amplitude) read_keys(*nested, kRotaryAmplitudeKeys, scaling);
  if (parts.yarn) read_keys(*nested, kYarnRotaryScalingKeys, scaling);
  if (parts.lists) {
    scaling.short_factors = numbers(*nested, "short_factors");
    scaling.long_factors = numbers(*nested, "long_factors");
  }
  model.rotary_scaling = scaling;
}

void read_latent(const InlineModelReader& fields, ModelArchitecture& model) {
  const auto nested = fields.reader_of_nested_mapping("latent");
  if (!nested) return;
  check_keys(nested->inline_mapping(), {}, kLatentKeys);
  LatentAttention latent;
  read_keys(*nested, kLatentKeys, latent);
  model.latent = latent;
}

std::int64_t head_dim(const InlineModelReader& fields, const ModelArchitecture& model) {
  if (const auto given = fields.value("head_dim")) return given->integer(1, kMaxModelDimension);
  if (model.latent) return model.latent->nope_head_dim + model.latent->rope_head_dim;
  if (model.hidden % model.heads != 0) {
    fields.inline_mapping().fail(
        fmt::format("hidden ({}) is not a multiple of heads ({}), and there is no head_dim",
                    model.hidden, model.heads));
  }
  return model.hidden / model.heads;
}

/// Sets `value` for the layers whose numbers a list names.
template <class Mark>
void mark(DocumentNode list, std::vector<Mark>& marks, Mark value) {
  if (!list.is_sequence()) list.fail("must be a list of layers, counted from 0");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto last = static_cast<std::int64_t>(marks.size()) - 1;
    marks[static_cast<std::size_t>(list.at(i).integer(0, last))] = value;
  }
}

void read_experts(const InlineModelReader& fields, ModelArchitecture& model) {
  const auto nested = fields.reader_of_nested_mapping("experts");
  if (!nested) return;
  check_keys(nested->inline_mapping(), {"leading_dense", "every", "dense_layers", "scoring"},
             kExpertKeys);
  MixtureOfExperts experts;
  read_keys(*nested, kExpertKeys, experts);
  const std::int64_t leading = nested->size_or_default("leading_dense", 0, 0);
  const std::int64_t every = nested->size_or_default("every", 1);
  std::vector<std::uint8_t> dense(static_cast<std::size_t>(model.layers), 0);
  bool any = false;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const bool is_dense = layer < leading || (layer + 1) % every != 0;
    dense[static_cast<std::size_t>(layer)] = is_dense ? 1 : 0;
    any = any || is_dense;
  }
  if (const auto list = nested->value("dense_layers")) {
    mark(*list, dense, std::uint8_t{1});
    any = any || list->size() > 0;
  }
  experts.scoring = nested->choice("scoring", kScoringNames, experts.scoring);
  model.experts = experts;
  if (any) assign_dense_mlp_layers(model, dense);
}

void read_state_mixer(const InlineModelReader& fields, ModelArchitecture& model) {
  const auto nested = fields.reader_of_nested_mapping("state_mixer");
  if (!nested) return;
  check_keys(nested->inline_mapping(), {}, kStateMixerKeys);
  RecurrentMixer mixer;
  read_keys(*nested, kStateMixerKeys, mixer);
  model.state_mixer = mixer;
}

void read_image_encoder(const InlineModelReader& fields, ModelArchitecture& model) {
  const auto nested = fields.reader_of_nested_mapping("encoder");
  if (!nested) return;
  check_keys(nested->inline_mapping(), {"name"}, kEncoderKeys);
  ImageEncoder encoder;
  if (const auto name = nested->value("name")) encoder.name = read_name(*name);
  read_keys(*nested, kEncoderKeys, encoder);
  model.encoder = encoder;
}

/// Reads layers from a list of runs, each of equal layers.
void read_layers(const InlineModelReader& fields, ModelArchitecture& model) {
  const auto list = fields.value("layers");
  if (!list || !list->is_sequence()) return;
  std::vector<LayerClass> layers;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const InlineModelReader run(list->at(i), std::nullopt);
    LayerClass layer = model.default_layer_class();
    layer.mixer = run.choice("mixer", kMixerNames, layer.mixer);
    layer.beside = run.choice("beside", kMixerNames, layer.beside);
    layer.feed_forward = run.choice("feed_forward", kFeedForwardNames, layer.feed_forward);
    if (run.value("norms")) {
      layer.norms = run.choice("norms", kNormPlacementNames, model.norm_placement);
    }
    read_keys(run, kLayerKeys, layer);
    layers.insert(layers.end(), static_cast<std::size_t>(run_length(run)), layer);
  }
  set_layer_class_pattern(model, std::move(layers));
}

std::int64_t ffn(const InlineModelReader& fields, const ModelArchitecture& model) {
  if (!has_default_ffn_layer(model)) return fields.size_or_default("ffn", 0, 0);
  if (model.gated)
    return fields.size("ffn", kMaxModelDimension, " (4 * hidden only without a gate)");
  return fields.size_or_default("ffn", 4 * model.hidden);
}

std::vector<std::int64_t> windows(const InlineModelReader& fields, std::int64_t layers) {
  const auto window = fields.value("window");
  const auto which = fields.value("windowed_layers");
  if (!window && which) which->fail("is given without a window");
  if (!window) return {};
  std::vector<std::int64_t> result(static_cast<std::size_t>(layers), 0);
  if (window->is_sequence()) {
    if (which) which->fail("is given beside a list of windows");
    if (window->size() != result.size()) {
      window->fail(
          fmt::format("has {} entries; one per layer ({}) is wanted", window->size(), layers));
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = window->at(i).integer(0, kMaxModelDimension);
    }
    return result;
  }
  const std::int64_t size = window->integer(1, kMaxModelDimension);
  if (which && which->is_scalar() && which->text() != "all") {
    which->fail("must be all or a list of layers, counted from 0");
  }
  if (!which || which->is_scalar()) {
    result.assign(result.size(), size);
  } else {
    mark(*which, result, size);
  }
  return result;
}

}  // namespace

ModelArchitecture read_inline_model(DocumentNode node) {
  check_keys(node, {"stepwright",      "name",        "base",      "layers",
                    "hidden",          "heads",       "vocab",     "kv_heads",
                    "head_dim",        "norm",        "norm_bias", "gated",
                    "activation",      "ffn",         "position",  "positions",
                    "rotary_scaling",  "bias",        "qkv_bias",  "attention_output_bias",
                    "mlp_bias",        "tied",        "dropout",   "window",
                    "windowed_layers", "latent",      "experts",   "qk_norm",
                    "norm_placement",  "state_mixer", "beyond",    "encoder"},
             kNormKeys, kRotaryKeys, kBlockKeys, kMultiTokenKeys);
  check_version(node);
  const auto base = read_base(node);
  const InlineModelReader fields(node, base ? std::optional(base->root()) : std::nullopt);
  ModelArchitecture model;
  model.name = name_of(fields);
  read_sizes(fields, model);
  read_blocks(fields, model);
  read_rotary_scaling(fields, model);
  read_latent(fields, model);
  model.head_dim = head_dim(fields, model);
  read_state_mixer(fields, model);
  read_image_encoder(fields, model);
  read_experts(fields, model);
  read_layers(fields, model);
  model.ffn = ffn(fields, model);
  if (const auto width = windows(fields, model.layers); !width.empty()) {
    set_layer_attention_windows(model, width);
    if (attention_windows_of_layers(model).empty()) {
      fields.value("window")->fail("must be left out where every layer sees the whole sequence");
    }
  }
  check_model_sizes(model, node.file_position_text());
  return model;
}

}  // namespace stepwright::model
