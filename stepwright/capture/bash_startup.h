#pragma once

#include <filesystem>
#include <string>

namespace stepwright::capture {

/// Returns the text of the file that each bash of a capture reads first (BASH_ENV). It keeps the
/// stand-ins first in PATH before each command, whatever the script puts in front of it; a launcher
/// that the script calls by its path (/opt/venv/bin/torchrun) becomes a function of that name,
/// which calls the stand-in; `source` of a missing virtual environment does nothing.
std::string bash_startup(const std::filesystem::path& folder);

}  // namespace stepwright::capture
