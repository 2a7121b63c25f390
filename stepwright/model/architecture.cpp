#include "stepwright/model/architecture.h"

#include <algorithm>

namespace stepwright::model {

LayerClass ModelArchitecture::default_layer_class() const {
  return {.feed_forward = experts ? FeedForward::kExperts : FeedForward::kDense};
}

LayerClass ModelArchitecture::described_layer_class(std::int64_t layer) const {
  if (pattern.empty()) return default_layer_class();
  return pattern.at(std::min(static_cast<std::size_t>(layer), pattern.size() - 1));
}

namespace {

bool trains(const ModelArchitecture& model, std::int64_t layer) {
  if (model.frozen.has(layer)) return false;
  return !model.adapters || has_adapter_targets(model, model.described_layer_class(layer));
}

/// Returns the first layer that trains something; the number of layers if none does.
std::int64_t lowest_trained(const ModelArchitecture& model) {
  std::int64_t layer = 0;
  while (layer < model.layers && !trains(model, layer)) ++layer;
  return layer;
}

}  // namespace

LayerClass ModelArchitecture::layer_class(std::int64_t layer) const {
  LayerClass which = described_layer_class(layer);
  if (!has_frozen_weights()) return which;
  which.frozen = !trains(*this, layer);
  if (trains_weights_before_layers()) return which;
  const std::int64_t lowest = lowest_trained(*this);
  if (layer == lowest) which.gradients = LayerGradientFlow::kEnds;
  if (layer < lowest) which.gradients = LayerGradientFlow::kAbove;
  return which;
}

bool ModelArchitecture::trains_weights_before_layers() const {
  if (adapters) return false;
  return !frozen.embedding || (encodes_images() && !(frozen.encoder && frozen.projector));
}

ModelArchitecture copy_job_settings_to_model(ModelArchitecture model,
                                             const ModelArchitecture& other) {
  model.dropout = other.dropout;
  model.count_multi_token = other.count_multi_token;
  model.multi_token_weight = other.multi_token_weight;
  if (other.count_multi_token) model.multi_token_layers = other.multi_token_layers;
  model.adapters = other.adapters;
  model.frozen = other.frozen;
  if (model.encoder && other.encoder) {
    model.encoder = encoder_with_patches(*model.encoder, other.encoder->patches);
    model.encoder->images = other.encoder->images;
  }
  return model;
}

std::map<LayerClass, std::int64_t> ModelArchitecture::layer_counts_by_class() const {
  std::map<LayerClass, std::int64_t> result;
  for (std::int64_t layer = 0; layer < layers; ++layer) ++result[layer_class(layer)];
  return result;
}

RotaryScaling usual_rotary_scaling(RotaryScalingKind kind) {
  RotaryScaling scaling{.kind = kind};
  if (kind == RotaryScalingKind::kYarn) scaling.high_frequency = 32;
  return scaling;
}

std::int64_t ModelArchitecture::rotated_pairs_per_head() const {
  const std::int64_t of = latent ? latent->rope_head_dim : head_dim;
  return static_cast<std::int64_t>(static_cast<double>(of) * rotary_fraction) / 2;
}

}  // namespace stepwright::model
