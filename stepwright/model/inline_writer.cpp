#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/model/catalog.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

void write_if(Json& json, const char* key, bool flag) {
  if (flag) json[key] = true;
}

void write_sizes(Json& json, const Architecture& model) {
  json["name"] = model.name;
  json["layers"] = model.layers;
  json["hidden"] = model.hidden;
  json["heads"] = model.heads;
  json["kv_heads"] = model.kv_heads;
  if (!model.latent) json["head_dim"] = model.head_dim;
  json["ffn"] = model.ffn;
  json["vocab"] = model.vocabulary;
  if (model.positions > 0) json["positions"] = model.positions;
}

void write_biases(Json& json, const Architecture& model) {
  if (model.qkv_bias && model.attention_output_bias && model.mlp_bias) {
    json["bias"] = true;
  } else {
    write_if(json, "qkv_bias", model.qkv_bias);
    write_if(json, "attention_output_bias", model.attention_output_bias);
    write_if(json, "mlp_bias", model.mlp_bias);
  }
  write_if(json, "head_bias", model.head_bias);
}

Json scaling_of(const RotaryScaling& scaling) {
  Json json{{"kind", name_of(kRotaryScalingNames, scaling.kind)}, {"factor", scaling.factor}};
  if (scaling.kind != RotaryScalingKind::kLlama3) return json;
  json["low_frequency"] = scaling.low_frequency;
  json["high_frequency"] = scaling.high_frequency;
  json["original_positions"] = scaling.original_positions;
  return json;
}

void write_blocks(Json& json, const Architecture& model) {
  json["norm"] = name_of(kNormNames, model.norm);
  if (model.norm == Norm::kLayer) json["norm_bias"] = model.norm_bias;
  if (model.norm_epsilon != 1e-5) json["norm_epsilon"] = model.norm_epsilon;
  json["gated"] = model.gated;
  json["activation"] = name_of(kActivationNames, model.activation);
  json["position"] = name_of(kPositionNames, model.position);
  if (model.rotary_fraction != 1) json["rotary_fraction"] = model.rotary_fraction;
  if (model.rotary_base != 10000) json["rotary_base"] = model.rotary_base;
  if (model.rotary_scaling) json["rotary_scaling"] = scaling_of(*model.rotary_scaling);
  write_biases(json, model);
  write_if(json, "qk_norm", model.qk_norm);
  write_if(json, "embedding_norm", model.embedding_norm);
  write_if(json, "parallel_residual", model.parallel_residual);
  write_if(json, "shared_input_norm", model.shared_input_norm);
  json["tied"] = model.tied;
  if (model.dropout != 0) json["dropout"] = model.dropout;
}

/// The shortest spelling: one size for all layers, one size and its layers, or a list.
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

Json experts_of(const Experts& experts) {
  Json json;
  json["count"] = experts.count;
  json["top_k"] = experts.top_k;
  json["ffn"] = experts.ffn;
  if (experts.shared_ffn > 0) json["shared_ffn"] = experts.shared_ffn;
  write_if(json, "shared_gate", experts.shared_gate);
  write_if(json, "correction_bias", experts.correction_bias);
  if (!experts.normalize_top_k) json["normalize_top_k"] = false;
  write_dense_layers(json, experts.is_dense);
  return json;
}

Json latent_of(const LatentAttention& latent) {
  return {{"query_rank", latent.query_rank},
          {"kv_rank", latent.kv_rank},
          {"nope_head_dim", latent.nope_head_dim},
          {"rope_head_dim", latent.rope_head_dim},
          {"value_head_dim", latent.value_head_dim}};
}

}  // namespace

Json inline_model(const Architecture& model) {
  Json json;
  write_sizes(json, model);
  write_blocks(json, model);
  write_windows(json, model.windows);
  if (model.latent) json["latent"] = latent_of(*model.latent);
  if (model.experts) json["experts"] = experts_of(*model.experts);
  if (model.multi_token_layers > 0) json["multi_token_layers"] = model.multi_token_layers;
  write_if(json, "count_multi_token", model.count_multi_token);
  return json;
}

}  // namespace stepwright
