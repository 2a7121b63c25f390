#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// Limits of the program that will load an MSCCL++ execution plan, and the ranks per node.
struct MscclppPlanSetting {
  std::string name;
  /// Number of ranks that share a node and can access each other's memory directly; all others
  /// communicate through ports.
  std::int32_t ranks_per_node = 1;
  std::int64_t min_message_size = 0;
  std::int64_t max_message_size = std::int64_t{1} << 40;
  /// Most operations of a thread block: `MAX_OPERATION` of the MSCCL++ build that loads the plan.
  std::size_t most_operations = 64;
};

/// Writes a collective's schedule as an MSCCL++ execution plan (JSON, protocol Simple). Each
/// channel becomes a thread block; each message a signal that memory is free, a put, a signal and a
/// wait; received data to be added go through scratch memory. Fails with `kUnsupported` for
/// operations that the format lacks and for more operations, channels, buffers or semaphores than
/// its loader has room for (`src/include/execution_common.hpp` of microsoft/mscclpp).
nlohmann::ordered_json mscclpp_execution_plan(const collective::CollectiveSchedule& schedule,
                                              const MscclppPlanSetting& setting);

}  // namespace stepwright::collective_files
