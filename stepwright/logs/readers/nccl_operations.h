#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright {

/// What NCCL calls an operation, and whether its counts are of one rank's part of the full buffer.
struct NcclOperation {
  LogOperation operation{};
  bool counts_part = false;
};
std::optional<NcclOperation> nccl_operation(std::string_view name);

/// The full buffer of a call that NCCL counts as so many bytes in a group of that size; `kUnknown`
/// when the size is not known (0) and matters, or the product is no size of a buffer.
std::int64_t nccl_payload(const NcclOperation& operation, std::int64_t bytes,
                          std::int64_t group_size);

}  // namespace stepwright
