#pragma once

#include <filesystem>
#include <string>

namespace stepwright::capture {

/// Returns the text of the file that each bash of a capture reads first (BASH_ENV). The file keeps
/// the folder of stand-ins (which record launches) at the front of PATH, redirects launchers called
/// by path (/opt/venv/bin/torchrun) to their stand-ins, and makes `source` of a missing virtual
/// environment do nothing.
std::string bash_startup_file_text(const std::filesystem::path& folder);

}  // namespace stepwright::capture
