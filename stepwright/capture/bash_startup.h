#pragma once

#include <filesystem>
#include <string>

namespace stepwright::capture {

/// Returns the text of the file that each bash of a capture reads first (BASH_ENV). Before each
/// command it puts the stand-ins' folder at the front of PATH again, if the script put another
/// folder there. A launcher called by its path (/opt/venv/bin/torchrun) becomes a function of that
/// name, which calls the stand-in. `source` of a missing virtual environment does nothing.
std::string bash_startup(const std::filesystem::path& folder);

}  // namespace stepwright::capture
