#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// The operation by NCCL's name for it.
std::optional<LogOperation> nccl_operation(std::string_view name);

/// The full buffer of a call that NCCL counts as so many bytes in a group of that size, of some
/// operations those of one rank's part; `kUnknown` when the size is not known (0) and matters, or
/// the product is no size of a buffer.
std::int64_t nccl_payload(LogOperation operation, std::int64_t bytes, std::int64_t group_size);

}  // namespace stepwright::logs
