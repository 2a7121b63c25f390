#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

// Layers of hybrids that are a mixer or a feed-forward alone, as Nemotron-H and Megatron-Core write
// them: M (Mamba-2), * (attention), - (MLP) and E (experts).
// NVIDIA/Megatron-LM megatron/core/models/hybrid/layers/utils.py, Symbols.

/// The layers of a pattern; nullopt if it has another letter.
std::optional<std::vector<LayerClass>> layers_of_letters(std::string_view letters);

/// The letter of a layer; nothing of one that has both branches, or another mixer.
std::optional<char> letter_of(const LayerClass& layer);

}  // namespace stepwright::model
