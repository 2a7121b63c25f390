#pragma once

#include <cstdint>
#include <filesystem>

namespace stepwright::testing {

/// Commits a checkpoint of one tensor in a folder: two files, r0 and r1, hold the even and the odd
/// elements of eight. Returns its directory.
std::filesystem::path committed(const std::filesystem::path& folder, std::int64_t step);

/// Changes a bit of the byte at a place of a file; again: it is as it was.
void flip(const std::filesystem::path& path, std::int64_t at, int bit = 2);

}  // namespace stepwright::testing
