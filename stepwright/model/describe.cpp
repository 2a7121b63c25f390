#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/model/catalog.h"
#include "stepwright/model/flops.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/model/parameters.h"

namespace stepwright::model {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t layers_with_experts(const ModelArchitecture& model) {
  std::int64_t sum = 0;
  for (const auto& [layer, layers] : model.layer_counts_by_class())
    sum += layer.has_experts() ? layers : 0;
  return sum;
}

Json experts_of(const ModelArchitecture& model) {
  return {{"count", model.experts->count},
          {"top_k", model.experts->top_k},
          {"ffn", model.experts->ffn},
          {"shared_ffn", model.experts->shared_ffn},
          {"layers", layers_with_experts(model)}};
}

Json windows_in(const ModelArchitecture& model) {
  const std::vector<std::int64_t> windows = attention_windows_of_layers(model);
  const auto full = std::ranges::count(windows, 0);
  return {{"largest", std::ranges::max(windows)},
          {"layers", static_cast<std::int64_t>(windows.size()) - full}};
}

/// Counts the layers that have each mixer.
Json mixers_of(const ModelArchitecture& model) {
  Json json = Json::object();
  for (const auto& [mixer, name] : kMixerNames) {
    std::int64_t sum = 0;
    for (const auto& [layer, layers] : model.layer_counts_by_class()) {
      if (layer.mixer == mixer || (mixer != TokenMixer::kNone && layer.beside == mixer))
        sum += layers;
    }
    if (sum > 0) json[std::string(name)] = sum;
  }
  return json;
}

/// Describes an encoder; counts of 0 are unknown and left out.
Json encoder_of(const ImageEncoder& encoder) {
  Json json{{"name", encoder.name}};
  const auto add = [&](const char* key, auto value) {
    if (value > 0) json[key] = value;
  };
  add("parameters", encoder.parameters);
  add("projector", encoder.projector);
  add("patches", encoder.patches);
  add("tokens", encoder.tokens);
  add("forward_flops", encoder.flops);
  add("layers", encoder.layers);
  add("hidden", encoder.hidden);
  if (encoder.patches > 0) json["any_size"] = encoder.any_size;
  if (encoder.parameters > 0) json["images"] = encoder.images;
  return json;
}

}  // namespace

Json model_list_entry_json(const ModelArchitecture& model, std::int64_t length) {
  Json json = Json::object();
  json["name"] = model.name;
  json["parameters"] = count_parameters(model);
  json["active_parameters"] = count_active_parameters(model);
  json["layers"] = model.layers;
  json["hidden"] = model.hidden;
  json["heads"] = model.heads;
  json["kv_heads"] = model.kv_heads;
  json["head_dim"] = model.head_dim;
  json["ffn"] = model.ffn;
  json["vocabulary"] = model.vocabulary;
  json["positions"] = model.positions;
  json["norm"] = name_of(kNormNames, model.norm);
  json["position"] = name_of(kPositionNames, model.position);
  json["activation"] = name_of(kActivationNames, model.activation);
  json["gated"] = model.gated;
  json["tied"] = model.tied;
  json["attention"] = model.latent ? "latent" : model.kv_heads < model.heads ? "grouped" : "full";
  if (!attention_windows_of_layers(model).empty()) json["window"] = windows_in(model);
  if (has_recurrent_mixer(model)) json["mixers"] = mixers_of(model);
  if (model.experts) json["experts"] = experts_of(model);
  if (model.multi_token_layers > 0) {
    json["multi_token_layers"] = model.multi_token_layers;
    json["multi_token_counted"] = model.count_multi_token;
  }
  if (model.encoder) json["encoder"] = encoder_of(*model.encoder);
  if (!model.beyond.empty()) json["beyond"] = model.beyond;
  json["length"] = length;
  json["forward_flops_per_token"] = forward_flops_per_token(model, length);
  json["flops_per_token"] = training_flops_per_token(model, length);
  return json;
}

}  // namespace stepwright::model
