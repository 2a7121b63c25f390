#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "stepwright/checkpoint/index.h"

namespace stepwright::checkpoint {

/// Returns one sentence for each damaged file or tensor of a checkpoint; empty: all checksums,
/// headers, types and positions agree with the index. `further`: an additional check of an intact
/// index; an `Error` that it throws becomes a sentence.
std::vector<std::string> find_checkpoint_defects(
    const std::filesystem::path& directory,
    const std::function<void(const CheckpointIndex&)>& further = {});

}  // namespace stepwright::checkpoint
