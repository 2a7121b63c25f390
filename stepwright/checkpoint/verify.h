#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "stepwright/checkpoint/index.h"

namespace stepwright::checkpoint {

/// The flaws of a committed checkpoint, a sentence for each file or tensor that is damaged; empty:
/// every checksum, header, type and place is as the index says. An index that cannot be read is one
/// such sentence. `further` looks at the index of a checkpoint without a flaw; what it refuses with
/// `Error` is one.
std::vector<std::string> flaws_of_checkpoint(
    const std::filesystem::path& directory,
    const std::function<void(const CheckpointIndex&)>& further = {});

}  // namespace stepwright::checkpoint
