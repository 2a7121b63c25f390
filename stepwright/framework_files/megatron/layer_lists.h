#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

// Settings of Megatron-Core with a value for every layer: a list of 0 and 1, or a period.

/// Returns one flag for each layer, the inverse of a list in Megatron-Core's settings (such as
/// `moe_layer_freq`): 1 where the list has 0, 0 where it has 1. Fails with `kInput` unless the list
/// has `layers` entries of 0 or 1.
std::vector<std::uint8_t> flags_of_zero_entries(DocumentNode list, std::int64_t layers);

/// Returns one flag for each layer from a setting of Megatron-Core that selects layers (such as
/// `linear_attention_freq`). If it is an integer N: 1 for every Nth layer. If it is a list: 1 for
/// each layer whose entry is 0.
std::vector<std::uint8_t> layer_period_flags(DocumentNode setting, std::int64_t layers);

/// Returns one flag per layer as a list in Python's notation: "[0, 1, 1]".
DocumentTree layer_flags_python_list(std::span<const std::uint8_t> marks);

}  // namespace stepwright::framework_files
