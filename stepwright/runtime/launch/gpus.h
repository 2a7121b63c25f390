#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwright::runtime {

/// The models of this machine's NVIDIA GPUs as the driver tells them, one for each GPU, by bus
/// address; nothing without a driver. `driver`: its folder of /proc.
std::vector<std::string> nvidia_gpus(const std::filesystem::path& driver = "/proc/driver/nvidia");

}  // namespace stepwright::runtime
