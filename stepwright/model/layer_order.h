#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// The layers of a model by class.
struct LayerOrder {
  std::vector<LayerClass> classes;    ///< Distinct, in the order in which the layers meet them.
  std::vector<std::size_t> class_of;  ///< By layer: its class, as an index into `classes`.
};

LayerOrder layer_order(const Architecture& model);

/// Every layer as the model describes it, also where `pattern` is empty.
std::vector<LayerClass> layers_of(const Architecture& model);
/// Sets `pattern`, to nothing where it says no more than that; so equal models compare equal.
void set_layers(Architecture& model, std::vector<LayerClass> layers);

/// By layer: the window of its attention, 0: full; empty where all are full.
std::vector<std::int64_t> windows_of(const Architecture& model);
/// By layer: 1 where a dense MLP stands; empty where none does.
std::vector<std::uint8_t> dense_layers_of(const Architecture& model);
/// Write one property of all layers, from lists as the two above return them.
void set_windows(Architecture& model, const std::vector<std::int64_t>& windows);
void set_dense_layers(Architecture& model, const std::vector<std::uint8_t>& is_dense);

/// Whether some layer has a dense MLP of the model's width.
bool has_shared_width(const Architecture& model);
/// Whether a layer is a mixer or a feed-forward alone, as layers of hybrids are (Nemotron-H).
bool has_one_branch(const LayerClass& layer);
/// Whether some layer is of a kind.
bool has_mixer(const Architecture& model, Mixer mixer);
bool has_feed_forward(const Architecture& model, FeedForward feed_forward);
/// Whether some layer carries a state along the sequence.
bool carries_state(const Architecture& model);

}  // namespace stepwright::model
