#pragma once

#include <algorithm>
#include <limits>

#include "stepwright/memory/memory.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// The memory that plans may fill.
struct Room {
  double device_bytes = 0;
  double host_bytes = std::numeric_limits<double>::infinity();  ///< Of a node.

  /// What a plan needs of a device, were it the device that lacks what a host has too little of:
  /// above `device_bytes` exactly where the plan does not fit.
  [[nodiscard]] double needed_bytes(const Price& price) const {
    return std::max(price.memory_bytes, device_bytes + (price.host_bytes - host_bytes));
  }
  /// Whether a plan fits by its price.
  [[nodiscard]] bool holds(const Price& price) const {
    return price.memory_bytes <= device_bytes && price.host_bytes <= host_bytes;
  }
};

/// Of a device what plans may fill (`usable_bytes`), of a host all; what no cluster says has no
/// limit.
inline Room room_of(const plan::Job& job) {
  Room room{.device_bytes = memory::usable_bytes(job)};
  if (job.cluster.host.memory_bytes > 0) room.host_bytes = job.cluster.host.memory_bytes;
  return room;
}

}  // namespace stepwright::simulate
