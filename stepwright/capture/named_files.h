#pragma once

#include <filesystem>
#include <vector>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Returns the files that a command's arguments name: words, or values after `=` or `@`, that exist
/// in the working directory or end like a configuration file or a script (.yaml, .json, .toml, .py,
/// .sh, ...). Text files of at most 1 MiB are returned with their text (8 MiB for all files of a
/// command).
std::vector<CapturedFile> files_named_in_arguments(const Words& argv);

/// Removes the recorded texts of files that have not changed since they were recorded, because they
/// can be read again. `folder`: working directory of the command that names the files.
void drop_unchanged_file_texts(std::vector<CapturedFile>& files,
                               const std::filesystem::path& folder);

}  // namespace stepwright::capture
