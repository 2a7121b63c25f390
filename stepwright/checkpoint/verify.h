#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "stepwright/checkpoint/index.h"

namespace stepwright::checkpoint {

/// Returns the flaws of a committed checkpoint, one sentence for each damaged file or tensor;
/// empty: every checksum, header, type and position is as the index states. An index that cannot be
/// read is one flaw. `further` is called with the index of a checkpoint without flaws; an `Error`
/// that it throws becomes one.
std::vector<std::string> find_checkpoint_defects(
    const std::filesystem::path& directory,
    const std::function<void(const CheckpointIndex&)>& further = {});

}  // namespace stepwright::checkpoint
