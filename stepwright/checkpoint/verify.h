#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwright::checkpoint {

/// The flaws of a committed checkpoint, a sentence for each file or tensor that is damaged; empty:
/// every checksum, header, type and place is as the index says. An index that cannot be read is one
/// such sentence.
std::vector<std::string> flaws_of_checkpoint(const std::filesystem::path& directory);

}  // namespace stepwright::checkpoint
