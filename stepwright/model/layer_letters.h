#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

// Letters for the layers of hybrid models, each of which is only a mixer or only a feed-forward, as
// in Nemotron-H and Megatron-Core: M (Mamba-2), * (attention), - (MLP) and E (experts).
// NVIDIA/Megatron-LM megatron/core/models/hybrid/layers/utils.py, Symbols.

/// Returns the layers of a hybrid model from a string with a letter per layer, as in Nemotron-H: M
/// (Mamba-2), * (attention), - (MLP), E (experts); nullopt if a letter is unknown.
std::optional<std::vector<LayerClass>> layers_from_hybrid_pattern(std::string_view letters);

/// Returns the letter of a hybrid model's layer: M (Mamba-2), * (attention), - (MLP), E (experts);
/// nullopt if the layer has both mixer and feed-forward, or another mixer.
std::optional<char> hybrid_layer_letter(const LayerClass& layer);

}  // namespace stepwright::model
