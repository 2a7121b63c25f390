#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// Returns the operation for a name that NCCL logs; nullopt: unknown name.
std::optional<LoggedOperation> nccl_operation(std::string_view name);

/// Returns the payload of a call (bytes of its full buffer) from the bytes that NCCL logs; for some
/// operations NCCL logs only one rank's shard. `kUnknown` if the group size is needed and unknown
/// (0), or if the product is too large for a buffer.
std::int64_t nccl_call_payload_bytes(LoggedOperation operation, std::int64_t bytes,
                                     std::int64_t group_size);

}  // namespace stepwright::logs
