#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stepwright::framework_files {

/// The release for which a target's file is written, where nothing else says one: the last one that
/// reads files with the ending of this name. Empty: the newest.
std::string release_of_ending(std::string_view target, const std::filesystem::path& file);

/// Says that a name ends as files of another language than the target's do in a release. Empty: it
/// does not, or its ending says nothing.
std::string other_ending(std::string_view target, std::string_view release,
                         const std::filesystem::path& file);

}  // namespace stepwright::framework_files
