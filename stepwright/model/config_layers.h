#pragma once

#include <cstdint>
#include <functional>

#include "stepwright/model/architecture.h"
#include "stepwright/model/config_fields.h"

namespace stepwright {

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
/// The same where the layers without `layer_types` follow from their number: `slides` of it,
/// counted from 0.
void read_windows(const ConfigFields& fields, const std::function<bool(std::int64_t)>& slides,
                  std::int64_t fallback, Architecture& model);
/// Holds for all layers but the last of each `every`.
std::function<bool(std::int64_t)> all_but_last_of(std::int64_t every);
/// Where some layers have a window, takes the rotary positions from the others.
void rotate_windows_alone(Architecture& model);
/// Takes the rotary positions from the layers for which `rotated` does not hold.
void mark_rotated_layers(Architecture& model,
                         const std::function<bool(const LayerClass&, std::int64_t)>& rotated);

/// Marks the layers that have an ordinary MLP; drops `model.experts` when all of them do.
void mark_dense_layers(Architecture& model, const std::function<bool(std::int64_t)>& is_dense);

/// Qwen's mixture: experts (spelt num_experts or num_local_experts) in every decoder_sparse_step-th
/// layer that is not among mlp_only_layers.
void read_qwen_experts(const ConfigFields& fields, Experts fallback, Architecture& model);

}  // namespace stepwright
