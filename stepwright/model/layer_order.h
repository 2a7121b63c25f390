#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// The distinct layer classes of a model, and the class of each layer.
struct LayerOrder {
  std::vector<LayerClass> classes;    ///< Distinct classes, in the order of their first layer.
  std::vector<std::size_t> class_of;  ///< Index into `classes` of each layer's class.
};

LayerOrder layer_order(const Architecture& model);

/// Returns the class of every layer as the model describes it, also if `pattern` is empty.
std::vector<LayerClass> model_layers(const Architecture& model);
/// Sets `pattern`; leaves it empty if all layers are the model's usual layer, so that equal models
/// compare equal.
void set_layers(Architecture& model, std::vector<LayerClass> layers);

/// Returns the attention window of each layer, 0: full attention; an empty list if all are full.
std::vector<std::int64_t> windows_of(const Architecture& model);
/// Returns 1 for each layer with a dense MLP and 0 for the others; an empty list if no layer has
/// one.
std::vector<std::uint8_t> dense_layers_of(const Architecture& model);
/// Set one property of all layers from lists as `windows_of` and `dense_layers_of` return them.
void set_windows(Architecture& model, const std::vector<std::int64_t>& windows);
void set_dense_layers(Architecture& model, const std::vector<std::uint8_t>& is_dense);

/// True if some layer has a dense MLP of the model's width `ffn`.
bool has_shared_width(const Architecture& model);
/// True if a layer is only a mixer or only a feed-forward, as in hybrids (Nemotron-H).
bool has_one_branch(const LayerClass& layer);
/// True if some layer has this mixer or feed-forward.
bool has_mixer(const Architecture& model, Mixer mixer);
bool has_feed_forward(const Architecture& model, FeedForward feed_forward);
/// True if some layer has a mixer that carries a state along the sequence.
bool carries_state(const Architecture& model);

}  // namespace stepwright::model
