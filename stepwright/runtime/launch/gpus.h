#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwright::runtime {

/// Returns the model names of this machine's NVIDIA GPUs, in the order of their bus addresses;
/// empty: no driver is installed. `driver`: folder of the driver in /proc.
std::vector<std::string> nvidia_gpu_names(
    const std::filesystem::path& driver = "/proc/driver/nvidia");

}  // namespace stepwright::runtime
