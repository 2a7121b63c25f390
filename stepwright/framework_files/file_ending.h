#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stepwright::framework_files {

/// Returns the framework release for which a launch file is written if the user states none: the
/// last release that reads files with the ending of this file name; empty: the newest release.
std::string release_for_file_ending(std::string_view target, const std::filesystem::path& file);

/// Returns a warning if the ending of a file name does not fit what is written into it (`.toml` for
/// Python, say), for a target and framework release; empty if it fits.
std::string wrong_file_ending_text(std::string_view target, std::string_view release,
                                   const std::filesystem::path& file);

}  // namespace stepwright::framework_files
