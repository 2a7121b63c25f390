#pragma once

#include <filesystem>
#include <optional>

#include "stepwright/core/lack.h"

namespace stepwright {

/// That the explorer's page is neither beside this program nor where packages put it, and how to
/// build it; nothing where it is.
std::optional<Lack> missing_explorer();

/// The explorer's page. Fails with `kUnsupported`, saying how to build it, when it is not there.
std::filesystem::path explorer_file();

}  // namespace stepwright
