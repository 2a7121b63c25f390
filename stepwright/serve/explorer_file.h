#pragma once

#include <filesystem>
#include <optional>

#include "stepwright/core/lack.h"

namespace stepwright::serve {

/// The lack of the explorer's page beside this program and where packages put it, and how to build
/// it; nullopt if the page is there.
std::optional<Lack> missing_explorer();

/// The explorer's page. Fails with `kUnsupported`, saying how to build it, when it is not there.
std::filesystem::path explorer_file();

}  // namespace stepwright::serve
