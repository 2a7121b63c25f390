#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/model/catalog.h"
#include "stepwright/model/inline_keys.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::model {
namespace {

using Json = nlohmann::ordered_json;

void write_if(Json& json, const char* key, bool flag) {
  if (flag) json[key] = true;
}

/// Writes the values that differ from a default `InlineModelPart`; with `everything`, all of them.
template <class InlineModelPart, std::size_t kCount>
void write_keys(Json& json, const ModelKey<InlineModelPart> (&keys)[kCount],
                const InlineModelPart& held, bool everything = false) {
  const InlineModelPart unfilled;
  for (const ModelKey<InlineModelPart>& key : keys) {
    const auto write = [&](auto value) {
      if (everything || held.*value != unfilled.*value) json[key.key] = held.*value;
    };
    std::visit(write, key.value);
  }
}

/// True if lists of windows and of dense layers describe all layers completely.
bool plain_layers(const ModelArchitecture& model) {
  return std::ranges::all_of(model.pattern, [&](LayerClass layer) {
    layer.window = 0;
    if (model.experts && layer.feed_forward == FeedForward::kExperts) {
      layer.feed_forward = FeedForward::kDense;
    }
    return layer == LayerClass{};
  });
}

Json layer_runs(const ModelArchitecture& model) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < model.pattern.size();) {
    const LayerClass& layer = model.pattern[i];
    std::size_t end = i;
    while (end < model.pattern.size() && model.pattern[end] == layer) ++end;
    Json run{{"count", end - i},
             {"mixer", name_of(kMixerNames, layer.mixer)},
             {"feed_forward", name_of(kFeedForwardNames, layer.feed_forward)}};
    if (layer.beside != TokenMixer::kNone) run["beside"] = name_of(kMixerNames, layer.beside);
    if (layer.norms) run["norms"] = name_of(kNormPlacementNames, *layer.norms);
    write_keys(run, kLayerKeys, layer);
    runs.push_back(std::move(run));
    i = end;
  }
  return runs;
}

void write_sizes(Json& json, const ModelArchitecture& model) {
  json["name"] = model.name;
  json["layers"] = plain_layers(model) ? Json(model.layers) : layer_runs(model);
  json["hidden"] = model.hidden;
  json["heads"] = model.heads;
  json["kv_heads"] = model.kv_heads;
  if (!model.latent) json["head_dim"] = model.head_dim;
  json["ffn"] = model.ffn;
  json["vocab"] = model.vocabulary;
  if (model.positions > 0) json["positions"] = model.positions;
}

void write_biases(Json& json, const ModelArchitecture& model) {
  if (model.qkv_bias && model.attention_output_bias && model.mlp_bias) {
    json["bias"] = true;
  } else {
    write_if(json, "qkv_bias", model.qkv_bias);
    write_if(json, "attention_output_bias", model.attention_output_bias);
    write_if(json, "mlp_bias", model.mlp_bias);
  }
}

Json scaling_of(const RotaryScaling& scaling) {
  Json json{{"kind", name_of(kRotaryScalingNames, scaling.kind)}};
  const RotaryScalingKeyGroups parts = scaling_parts(scaling.kind);
  write_keys(json, kScalingKeys, scaling, true);
  if (parts.turns) write_keys(json, kRotaryScalingKeys, scaling, true);
  if (parts.original) write_keys(json, kOriginalRotaryScalingKeys, scaling, true);
  if (parts.amplitude) write_keys(json, kRotaryAmplitudeKeys, scaling);
  if (parts.yarn) write_keys(json, kYarnRotaryScalingKeys, scaling);
  if (!scaling.short_factors.empty()) json["short_factors"] = scaling.short_factors;
  if (!scaling.long_factors.empty()) json["long_factors"] = scaling.long_factors;
  return json;
}

void write_blocks(Json& json, const ModelArchitecture& model) {
  json["norm"] = name_of(kNormNames, model.norm);
  if (model.norm == Norm::kLayer) json["norm_bias"] = model.norm_bias;
  if (model.norm_placement != NormPlacement::kBefore) {
    json["norm_placement"] = name_of(kNormPlacementNames, model.norm_placement);
  }
  write_keys(json, kNormKeys, model);
  json["gated"] = model.gated;
  json["activation"] = name_of(kActivationNames, model.activation);
  json["position"] = name_of(kPositionNames, model.position);
  write_keys(json, kRotaryKeys, model);
  if (model.rotary_scaling) json["rotary_scaling"] = scaling_of(*model.rotary_scaling);
  write_biases(json, model);
  if (model.qk_norm == QkNorm::kHead) {
    json["qk_norm"] = true;
  } else if (model.qk_norm != QkNorm::kNone) {
    json["qk_norm"] = name_of(kQkNormNames, model.qk_norm);
  }
  write_keys(json, kBlockKeys, model);
  json["tied"] = model.tied;
  if (model.dropout != 0) json["dropout"] = model.dropout;
}

/// Writes windows in the shortest form: one size for all layers, one size with its layers, or a
/// list.
void write_windows(Json& json, const std::vector<std::int64_t>& windows) {
  if (windows.empty()) return;
  const std::int64_t largest = std::ranges::max(windows);
  Json which = Json::array();
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i] == largest) which.push_back(i);
  }
  const auto full = static_cast<std::size_t>(std::ranges::count(windows, 0));
  if (which.size() + full < windows.size()) {
    json["window"] = windows;
    return;
  }
  json["window"] = largest;
  if (full > 0) json["windowed_layers"] = std::move(which);
}

void write_dense_layers(Json& json, const std::vector<std::uint8_t>& is_dense) {
  if (is_dense.empty()) return;
  const auto leading = std::ranges::find(is_dense, 0) - is_dense.begin();
  if (std::ranges::count(is_dense, 1) == leading) {
    json["leading_dense"] = leading;
    return;
  }
  Json which = Json::array();
  for (std::size_t i = 0; i < is_dense.size(); ++i) {
    if (is_dense[i] != 0) which.push_back(i);
  }
  json["dense_layers"] = std::move(which);
}

Json experts_keys(const ModelArchitecture& model) {
  Json json = Json::object();
  write_keys(json, kExpertKeys, *model.experts);
  if (model.experts->scoring != RouterScoring::kSoftmax) {
    json["scoring"] = name_of(kScoringNames, model.experts->scoring);
  }
  if (plain_layers(model)) write_dense_layers(json, dense_layer_flags(model));
  return json;
}

}  // namespace

Json inline_model_mapping(const ModelArchitecture& model) {
  Json json = Json::object();
  write_sizes(json, model);
  write_blocks(json, model);
  if (plain_layers(model)) write_windows(json, attention_windows_of_layers(model));
  if (model.latent) write_keys(json["latent"] = Json::object(), kLatentKeys, *model.latent, true);
  if (model.experts) json["experts"] = experts_keys(model);
  if (model.state_mixer) {
    write_keys(json["state_mixer"] = Json::object(), kStateMixerKeys, *model.state_mixer, true);
  }
  if (model.encoder) {
    json["encoder"] = {{"name", model.encoder->name}};
    write_keys(json["encoder"], kEncoderKeys, *model.encoder, true);
  }
  write_keys(json, kMultiTokenKeys, model);
  if (!model.beyond.empty()) json["beyond"] = model.beyond;
  return json;
}

}  // namespace stepwright::model
