#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/model/architecture.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Fails unless a list in a config.json has exactly one entry per layer.
void check_one_entry_per_layer(DocumentNode list, const ModelArchitecture& model);
/// Words by which a config.json names kinds of layers ("full_attention", ...), each with the layer
/// class (properties of the layer) that it means.
using LayerWords = std::initializer_list<std::pair<std::string_view, LayerClass>>;
/// Returns the class (mixer, window, ...) of each layer from a config.json's list of words; fails
/// with `kUnsupported` for an unknown word.
std::vector<LayerClass> listed_layer_classes(DocumentNode list, LayerWords words);

/// Rule for which layers have the attention window `sliding_window` if a config.json has no
/// `layer_types`.
enum class AttentionWindowRule : std::uint8_t {
  kEveryLayer,  ///< All layers have the window if sliding_window is not null (Mistral, Mixtral).
  kSwitched,    ///< All layers have the window if use_sliding_window is true (Qwen3-MoE).
  /// Layers from max_window_layers on have the window if use_sliding_window is true (Qwen2, Qwen3).
  kFromLayer,
  /// Even layers before max_window_layers have the window if use_sliding_window is true
  /// (Qwen2-MoE).
  kEvenLayersUntil,
};

/// Reads the attention window of each layer by a family's rule. Must run after the number of layers
/// and the experts are known. `fallback`: window in tokens if the config.json has none; 0: no
/// window.
void read_attention_windows(const ConfigJsonReader& fields, AttentionWindowRule rule,
                            std::int64_t fallback, ModelArchitecture& model);
/// Reads the attention window of each layer. If the config.json has no `layer_types`, layers for
/// whose index (from 0) `slides` returns true have the window.
void read_attention_windows(const ConfigJsonReader& fields,
                            const std::function<bool(std::int64_t)>& slides, std::int64_t fallback,
                            ModelArchitecture& model);
/// Returns a predicate on layer indices that is false for every `every`-th layer (the last of each
/// run) and true for all others.
std::function<bool(std::int64_t)> all_layers_but_every_nth(std::int64_t every);
/// Turns off rotary positions in layers without an attention window, unless `sliding_window` in the
/// config.json is null.
void drop_rotary_without_window(const ConfigJsonReader& fields, ModelArchitecture& model);
/// Turns off rotary positions in layers for which `rotated`, given the layer's class and its index,
/// returns false.
void turn_off_rotary_outside_layers(
    ModelArchitecture& model, const std::function<bool(const LayerClass&, std::int64_t)>& rotated);

/// Gives a dense MLP instead of experts to layers for whose index `is_dense` returns true; removes
/// `model.experts` if that is all of them.
void replace_experts_by_dense_mlp(ModelArchitecture& model,
                                  const std::function<bool(std::int64_t)>& is_dense);
/// Gives a dense MLP instead of experts to the layers that `mlp_layer_types` calls dense; without
/// that key, to the first `first` layers.
void replace_experts_in_listed_dense_layers(const ConfigJsonReader& fields, std::int64_t first,
                                            ModelArchitecture& model);

}  // namespace stepwright::model
