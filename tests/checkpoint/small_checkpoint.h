#pragma once

#include <cstdint>
#include <filesystem>

namespace stepwright::testing {

/// Commits a checkpoint of one tensor with eight elements in a folder: the file r0 has the even
/// elements, r1 the odd ones. Returns the checkpoint's directory.
std::filesystem::path committed(const std::filesystem::path& folder, std::int64_t step);

/// Flips a bit of the byte at a position of a file; a second call restores it.
void flip(const std::filesystem::path& path, std::int64_t at, int bit = 2);

}  // namespace stepwright::testing
