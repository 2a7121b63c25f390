#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// The distinct classes of a model's layers (layers with equal mixer, feed-forward, window, ...
/// form a class), and which class each layer has.
struct LayerClassIndex {
  /// Distinct classes of layers, in the order of the first layer of each.
  std::vector<LayerClass> classes;
  std::vector<std::size_t> class_of;  ///< For each layer, the index of its class in `classes`.
};

LayerClassIndex layer_order(const ModelArchitecture& model);

/// Returns, for every layer, its class (mixer, feed-forward, window, ...) as the model's file
/// describes it, with nothing frozen; the model's list of classes (`pattern`) may be empty.
std::vector<LayerClass> model_layer_classes(const ModelArchitecture& model);
/// Stores the class (mixer, feed-forward, window, ...) of each layer in the model; stores an empty
/// list if all layers have the default class, so that equal models compare equal.
void set_layer_class_pattern(ModelArchitecture& model, std::vector<LayerClass> layers);

/// Returns each layer's attention window in tokens (0: full attention); empty if all layers are
/// full.
std::vector<std::int64_t> attention_windows_of_layers(const ModelArchitecture& model);
/// Returns 1 for each layer with a dense MLP and 0 for each other one; empty if no layer has a
/// dense MLP.
std::vector<std::uint8_t> dense_layer_flags(const ModelArchitecture& model);
/// Sets each layer's attention window in tokens (0: full attention); an empty list: all layers are
/// full.
void set_layer_attention_windows(ModelArchitecture& model,
                                 const std::vector<std::int64_t>& windows);
/// Sets for each layer whether it has a dense MLP (1) or not (0); an empty list: no layer has one.
void assign_dense_mlp_layers(ModelArchitecture& model, const std::vector<std::uint8_t>& is_dense);

/// True if some layer has a dense MLP of the model's own width `ffn` (not a width of its own).
bool has_default_ffn_layer(const ModelArchitecture& model);
/// True if a layer has only a mixer or only a feed-forward, as in hybrid models (Nemotron-H).
bool layer_has_one_branch(const LayerClass& layer);
/// True if at least one layer of the model mixes tokens in this way (attention, Mamba, ...).
bool model_has_mixer_kind(const ModelArchitecture& model, TokenMixer mixer);
/// True if at least one layer of the model has this kind of feed-forward.
bool model_has_feed_forward_kind(const ModelArchitecture& model, FeedForward feed_forward);
/// True if at least one layer has a recurrent mixer (delta net, Mamba) or a short convolution.
bool has_recurrent_mixer(const ModelArchitecture& model);

}  // namespace stepwright::model
