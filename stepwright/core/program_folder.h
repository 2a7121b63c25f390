#pragma once

#include <filesystem>

namespace stepwright {

/// The folder of the program that runs or, where this is part of a Python module, of that module.
std::filesystem::path program_folder();

}  // namespace stepwright
