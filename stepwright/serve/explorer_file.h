#pragma once

#include <filesystem>
#include <optional>

#include "stepwright/core/lack.h"

namespace stepwright::serve {

/// Returns an error if the HTML page of the explorer does not exist, with the paths at which it was
/// looked for and how to build it; nullopt: it exists.
std::optional<MissingRequirement> missing_explorer_error();

/// Returns the path of the explorer's HTML page. Fails with `kUnsupported`, saying how to build it,
/// if it does not exist.
std::filesystem::path explorer_page_path();

}  // namespace stepwright::serve
