#pragma once

#include <filesystem>
#include <optional>

#include "stepwright/core/lack.h"

namespace stepwright::serve {

/// Returns an error with the paths at which the explorer's page was looked for (beside this program
/// and in the packages' folder) and how to build it; nullopt: the page exists.
std::optional<MissingRequirement> missing_explorer();

/// Returns the path of the explorer's page. Fails with `kUnsupported`, saying how to build it, if
/// it does not exist.
std::filesystem::path explorer_file();

}  // namespace stepwright::serve
