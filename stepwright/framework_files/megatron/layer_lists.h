#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

// Settings of Megatron-Core that say a property of every layer: a list of 0 and 1, or a period.

/// 1 for each layer for which a list has 0. Fails with `kInput` on a list of another length and on
/// other numbers.
std::vector<std::uint8_t> zeros_of(Node list, std::int64_t layers);

/// 1 for the last layer of each period, or for each for which a list has 0.
std::vector<std::uint8_t> period_ends(Node setting, std::int64_t layers);

/// Writes a list as Python does: "[0, 1, 1]".
Tree layer_list(std::span<const std::uint8_t> marks);

}  // namespace stepwright::framework_files
