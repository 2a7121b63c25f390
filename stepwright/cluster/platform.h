#pragma once

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// True for AMD's accelerators, which run ROCm instead of CUDA; they are recognised by their names
/// (MI and a number).
inline bool is_rocm_device(const DeviceModel& device) {
  const std::string& name = device.name;
  return name.size() > 2 && (name.starts_with("mi") || name.starts_with("MI")) && name[2] >= '0' &&
         name[2] <= '9';
}

}  // namespace stepwright::cluster
