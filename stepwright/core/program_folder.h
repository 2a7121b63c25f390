#pragma once

#include <filesystem>

namespace stepwright {

/// The folder of the program that runs.
std::filesystem::path program_folder();

}  // namespace stepwright
