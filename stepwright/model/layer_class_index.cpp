#include "stepwright/model/layer_class_index.h"

#include <algorithm>
#include <utility>

namespace stepwright::model {
namespace {

template <class Holds>
bool any_layer(const ModelArchitecture& model, Holds holds) {
  if (model.pattern.empty()) return holds(model.default_layer_class());
  return std::ranges::any_of(model.pattern, holds);
}

}  // namespace

LayerClassIndex layer_order(const ModelArchitecture& model) {
  LayerClassIndex order;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const LayerClass which = model.layer_class(layer);
    const auto found = std::ranges::find(order.classes, which);
    order.class_of.push_back(static_cast<std::size_t>(found - order.classes.begin()));
    if (found == order.classes.end()) order.classes.push_back(which);
  }
  return order;
}

std::vector<LayerClass> model_layer_classes(const ModelArchitecture& model) {
  std::vector<LayerClass> layers;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    layers.push_back(model.described_layer_class(layer));
  }
  return layers;
}

void set_layer_class_pattern(ModelArchitecture& model, std::vector<LayerClass> layers) {
  model.pattern.clear();
  const auto alike = std::ranges::count(layers, model.default_layer_class());
  if (alike != std::ssize(layers) || alike != model.layers) model.pattern = std::move(layers);
}

std::vector<std::int64_t> attention_windows_of_layers(const ModelArchitecture& model) {
  std::vector<std::int64_t> windows;
  for (const LayerClass& layer : model.pattern) windows.push_back(layer.window);
  if (std::ranges::count(windows, 0) == std::ssize(windows)) windows.clear();
  return windows;
}

std::vector<std::uint8_t> dense_layer_flags(const ModelArchitecture& model) {
  std::vector<std::uint8_t> dense;
  for (const LayerClass& layer : model_layer_classes(model)) {
    dense.push_back(layer.feed_forward == FeedForward::kDense ? 1 : 0);
  }
  if (std::ranges::count(dense, 1) == 0) dense.clear();
  return dense;
}

void set_layer_attention_windows(ModelArchitecture& model,
                                 const std::vector<std::int64_t>& windows) {
  std::vector<LayerClass> layers = model_layer_classes(model);
  layers.resize(std::max(layers.size(), windows.size()));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].window = i < windows.size() ? windows[i] : 0;
  }
  set_layer_class_pattern(model, std::move(layers));
}

void assign_dense_mlp_layers(ModelArchitecture& model, const std::vector<std::uint8_t>& is_dense) {
  std::vector<LayerClass> layers = model_layer_classes(model);
  layers.resize(std::max(layers.size(), is_dense.size()));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool dense = i < is_dense.size() && is_dense[i] != 0;
    layers[i].feed_forward = dense ? FeedForward::kDense : FeedForward::kExperts;
  }
  set_layer_class_pattern(model, std::move(layers));
}

bool has_default_ffn_layer(const ModelArchitecture& model) {
  return any_layer(model, [](const LayerClass& layer) {
    return layer.feed_forward == FeedForward::kDense && layer.ffn == 0;
  });
}

bool layer_has_one_branch(const LayerClass& layer) {
  return layer.mixer == TokenMixer::kNone || layer.feed_forward == FeedForward::kNone;
}

bool model_has_mixer_kind(const ModelArchitecture& model, TokenMixer mixer) {
  return any_layer(model, [&](const LayerClass& layer) { return layer.has_mixer(mixer); });
}

bool model_has_feed_forward_kind(const ModelArchitecture& model, FeedForward feed_forward) {
  return any_layer(model,
                   [&](const LayerClass& layer) { return layer.feed_forward == feed_forward; });
}

bool has_recurrent_mixer(const ModelArchitecture& model) {
  return any_layer(model, [](const LayerClass& layer) {
    return layer.recurrent_mixer_kind() != TokenMixer::kNone;
  });
}

}  // namespace stepwright::model
