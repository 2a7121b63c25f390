#pragma once

#include <filesystem>
#include <vector>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Returns the files that a command's arguments name: words, or values after `=` or `@`, that are
/// existing files of the current folder, or that end like a configuration file or a program (.yaml,
/// .yml, .json, .toml, .py, .sh, .cfg, .ini, .txt, .jinja). A text file of at most 1 MiB is
/// returned with its text (8 MiB for all files of a command).
std::vector<CapturedFile> named_files(const Words& argv);

/// Removes the texts of files whose contents are unchanged. `folder` is the command's folder.
void drop_unchanged_texts(std::vector<CapturedFile>& files, const std::filesystem::path& folder);

}  // namespace stepwright::capture
