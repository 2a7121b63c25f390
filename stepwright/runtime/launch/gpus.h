#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwright::runtime {

/// Returns the models of this machine's NVIDIA GPUs as the driver names them, one for each GPU, by
/// bus address; empty without a driver. `driver`: the driver's folder in /proc.
std::vector<std::string> nvidia_gpus(const std::filesystem::path& driver = "/proc/driver/nvidia");

}  // namespace stepwright::runtime
