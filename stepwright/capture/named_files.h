#pragma once

#include <filesystem>
#include <vector>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Returns the files that the arguments of a command name: words, or values behind `=` or `@`, that
/// are existing files of the current folder, or that end like a configuration file or a program
/// (.yaml, .yml, .json, .toml, .py, .sh, .cfg, .ini, .txt, .jinja). A text of at most 1 MiB comes
/// with its file (8 MiB for all files of a command).
std::vector<CapturedFile> named_files(const Words& argv);

/// Removes the texts of files that still have the same text. `folder` is that of the command.
void drop_unchanged_texts(std::vector<CapturedFile>& files, const std::filesystem::path& folder);

}  // namespace stepwright::capture
