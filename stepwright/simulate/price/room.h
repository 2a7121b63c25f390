#pragma once

#include <algorithm>
#include <limits>

#include "stepwright/memory/memory.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// The memory that a plan may fill on a device and on a host.
struct AvailablePlanMemory {
  double device_bytes = 0;
  /// Host memory of a node in bytes; infinity: unknown, so not limited.
  double host_bytes = std::numeric_limits<double>::infinity();

  /// Returns the device bytes that a plan needs. Missing host memory counts as if the device lacked
  /// it, so the result is above `device_bytes` exactly if the plan does not fit.
  [[nodiscard]] double device_bytes_needed_by_plan(const PlanPrice& price) const {
    return std::max(price.memory_bytes, device_bytes + (price.host_bytes - host_bytes));
  }
  /// True if a plan fits in device and host memory, judged by its closed-form price.
  [[nodiscard]] bool fits_in_memory(const PlanPrice& price) const {
    return price.memory_bytes <= device_bytes && price.host_bytes <= host_bytes;
  }
};

/// Returns the memory that plans of a job may fill: `usable_memory_bytes` of each device, and all
/// host memory (no limit if the cluster does not state it).
inline AvailablePlanMemory plan_memory_limit(const plan::Job& job) {
  AvailablePlanMemory room{.device_bytes = memory::usable_memory_bytes(job)};
  if (job.cluster.host.memory_bytes > 0) room.host_bytes = job.cluster.host.memory_bytes;
  return room;
}

}  // namespace stepwright::simulate
