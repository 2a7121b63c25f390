#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// Settings of an MSCCL++ plan, besides its steps.
struct MscclppSetting {
  std::string name;
  /// Number of ranks that share a node and can access each other's memory; other ranks communicate
  /// by port.
  std::int32_t ranks_per_node = 1;
  std::int64_t min_message_size = 0;
  std::int64_t max_message_size = std::int64_t{1} << 40;
  /// Most operations of a thread block: `MAX_OPERATION` of the MSCCL++ that loads the plan.
  std::size_t most_operations = 64;
};

/// Writes a schedule as an MSCCL++ execution plan (its JSON, protocol Simple). A channel becomes a
/// thread block. For a message, the receiver signals that its memory is free (for output that is
/// written once: only at the first message of the two ranks), the sender puts and signals, and the
/// receiver waits; pieces to be added arrive in scratch after the schedule's own and are reduced
/// from there. A wait of the schedule is a semaphore between two thread blocks. Only signals,
/// semaphores and nops order operations. Throws `Error{kUnsupported}` for an operation that the
/// format has no word for, and for more operations, channels, buffers or semaphores than its loader
/// has room for (`src/include/execution_common.hpp` of microsoft/mscclpp).
nlohmann::ordered_json mscclpp_plan(const collective::CollectiveSchedule& schedule,
                                    const MscclppSetting& setting);

}  // namespace stepwright::collective_files
