#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// The head of a plan of MSCCL++, beside its steps.
struct MscclppSetting {
  std::string name;
  /// Ranks of one node reach each other's memory, others by port.
  std::int32_t ranks_per_node = 1;
  std::int64_t min_message_size = 0;
  std::int64_t max_message_size = std::int64_t{1} << 40;
  /// Most operations of a thread block: `MAX_OPERATION` of the MSCCL++ that loads the plan.
  std::size_t most_operations = 64;
};

/// A schedule as an execution plan of MSCCL++ (its JSON, protocol Simple). A channel becomes a
/// thread block. A message is: the receiver signals that its memory is free (for output that is
/// written once: with the first message of the two ranks only), the sender puts and signals, the
/// receiver waits; what is added comes into scratch behind the schedule's own and is reduced from
/// there. A wait of the schedule is a semaphore between two thread blocks. Nothing is
/// ordered but by signals, semaphores and nops. Throws `Error{kUnsupported}` for an operation that
/// the format has no word for, and for more operations, channels, buffers or semaphores than its
/// loader has room for (`src/include/execution_common.hpp` of microsoft/mscclpp).
nlohmann::ordered_json mscclpp_plan(const collective::CollectiveSchedule& schedule,
                                    const MscclppSetting& setting);

}  // namespace stepwright::collective_files
