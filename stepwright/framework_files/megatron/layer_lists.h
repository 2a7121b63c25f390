#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

// Settings of Megatron-Core with a value for every layer: a list of 0 and 1, or a period.

/// Returns 1 for each layer whose list entry is 0. Fails with `kInput` for a list of another length
/// and for other numbers.
std::vector<std::uint8_t> layers_flagged_zero(Node list, std::int64_t layers);

/// Returns 1 for the last layer of each period, or for each layer whose list entry is 0.
std::vector<std::uint8_t> period_ends(Node setting, std::int64_t layers);

/// Returns a list as Python writes it: "[0, 1, 1]".
Tree layer_list(std::span<const std::uint8_t> marks);

}  // namespace stepwright::framework_files
