#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stepwright::framework_files {

/// Returns the framework release to write a target's file for if the user states none: the last
/// release that reads files with this name's ending; empty: the newest release.
std::string release_of_ending(std::string_view target, const std::filesystem::path& file);

/// Returns a sentence saying that a file name has an ending of another language than the target's
/// files in this release; empty if it does not.
std::string wrong_file_ending_text(std::string_view target, std::string_view release,
                                   const std::filesystem::path& file);

}  // namespace stepwright::framework_files
