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

/// Fails where a list has not one entry per layer.
void check_one_per_layer(Node list, const Architecture& model);
/// The kind of a layer, by the words of a file.
using LayerWords = std::initializer_list<std::pair<std::string_view, LayerClass>>;
/// Layer by layer from a list of words; others are `kUnsupported`.
std::vector<LayerClass> listed_layers(Node list, LayerWords words);

/// Which layers `sliding_window` concerns where a file has no `layer_types`.
enum class WindowRule : std::uint8_t {
  kEveryLayer,       ///< Mistral, Mixtral: every layer, when it is not null.
  kSwitched,         ///< Qwen3-MoE: every layer, if use_sliding_window.
  kFromLayer,        ///< Qwen2, Qwen3: if use_sliding_window, layers from max_window_layers on.
  kEvenLayersUntil,  ///< Qwen2-MoE: if use_sliding_window, even layers before max_window_layers.
};

/// Sets the windows of layers (after their number and the experts). `fallback` is the window where
/// the file names none; 0: no window.
void read_windows(const ConfigFields& fields, WindowRule rule, std::int64_t fallback,
                  Architecture& model);
/// Reads the windows; without `layer_types`, the layers whose number, counted from 0, `slides`
/// accepts have one.
void read_windows(const ConfigFields& fields, const std::function<bool(std::int64_t)>& slides,
                  std::int64_t fallback, Architecture& model);
/// Holds for all layers but the last of each `every`.
std::function<bool(std::int64_t)> all_but_last_of(std::int64_t every);
/// Takes the rotary positions from the layers without a window, unless `sliding_window` is null.
void rotate_windows_alone(const ConfigFields& fields, Architecture& model);
/// Takes the rotary positions from the layers for which `rotated` does not hold.
void mark_rotated_layers(Architecture& model,
                         const std::function<bool(const LayerClass&, std::int64_t)>& rotated);

/// Marks the layers that have an ordinary MLP; drops `model.experts` when all of them do.
void mark_dense_layers(Architecture& model, const std::function<bool(std::int64_t)>& is_dense);
/// Marks the layers that `mlp_layer_types` calls dense, or the first ones.
void mark_listed_dense(const ConfigFields& fields, std::int64_t first, Architecture& model);

}  // namespace stepwright::model
