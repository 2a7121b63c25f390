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

/// Fails unless a list has exactly one entry per layer.
void check_one_per_layer(Node list, const Architecture& model);
/// The words that a file uses for its layers, with the layer class that each word means.
using LayerWords = std::initializer_list<std::pair<std::string_view, LayerClass>>;
/// Reads the class of each layer from a list of words; an unknown word fails with `kUnsupported`.
std::vector<LayerClass> listed_layers(Node list, LayerWords words);

/// Which layers `sliding_window` applies to if a file has no `layer_types`.
enum class WindowRule : std::uint8_t {
  kEveryLayer,  ///< Mistral, Mixtral: every layer, if sliding_window is not null.
  kSwitched,    ///< Qwen3-MoE: every layer, if use_sliding_window is true.
  /// Qwen2, Qwen3: layers from max_window_layers on, if use_sliding_window is true.
  kFromLayer,
  /// Qwen2-MoE: even layers before max_window_layers, if use_sliding_window is true.
  kEvenLayersUntil,
};

/// Sets the windows of layers; call it after the number of layers and the experts are read.
/// `fallback` is the window if the file has none; 0: no window.
void read_windows(const ConfigFields& fields, WindowRule rule, std::int64_t fallback,
                  Architecture& model);
/// Sets the windows of layers. If the file has no `layer_types`, the layers whose number (from 0)
/// `slides` accepts have a window.
void read_windows(const ConfigFields& fields, const std::function<bool(std::int64_t)>& slides,
                  std::int64_t fallback, Architecture& model);
/// Returns a predicate that is false for the last of each `every` layers and true for the others.
std::function<bool(std::int64_t)> all_but_last_of(std::int64_t every);
/// Removes the rotary positions of layers without a window, unless `sliding_window` is null.
void rotate_windows_alone(const ConfigFields& fields, Architecture& model);
/// Removes the rotary positions of layers for which `rotated` returns false.
void mark_rotated_layers(Architecture& model,
                         const std::function<bool(const LayerClass&, std::int64_t)>& rotated);

/// Marks the layers that have a dense MLP; drops `model.experts` if all of them do.
void mark_dense_layers(Architecture& model, const std::function<bool(std::int64_t)>& is_dense);
/// Marks as dense the layers that `mlp_layer_types` calls dense, or else the first `first` layers.
void mark_listed_dense(const ConfigFields& fields, std::int64_t first, Architecture& model);

}  // namespace stepwright::model
