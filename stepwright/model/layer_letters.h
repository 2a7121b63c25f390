#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

// Letters for the layers of hybrid models, each of which is only a mixer or only a feed-forward, as
// in Nemotron-H and Megatron-Core: M (Mamba-2), * (attention), - (MLP) and E (experts).
// NVIDIA/Megatron-LM megatron/core/models/hybrid/layers/utils.py, Symbols.

/// Returns the layers of a pattern of letters; nullopt if it has an unknown letter.
std::optional<std::vector<LayerClass>> layers_of_letters(std::string_view letters);

/// Returns the letter of a layer; nullopt if the layer has both branches or another mixer.
std::optional<char> layer_letter(const LayerClass& layer);

}  // namespace stepwright::model
