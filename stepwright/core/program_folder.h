#pragma once

#include <filesystem>

namespace stepwright {

/// Returns the folder of the running program; for code inside a Python module, the folder of that
/// module.
std::filesystem::path program_folder();

}  // namespace stepwright
