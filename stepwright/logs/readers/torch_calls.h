#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// Returns the operation for a call name in PyTorch profilers, recorders and execution traces:
/// "allreduce", "_allgather_base", "c10d::allreduce_", "nccl:all_reduce", "nccl:send 0->1", ...
/// nullopt if it is no call that moves data or synchronises ranks.
std::optional<LoggedOperation> operation_of_torch_call(std::string_view name);

/// True if a name in a PyTorch trace is not a communication call itself but, for example, a wait or
/// the bracket around coalesced calls.
bool is_not_torch_call(std::string_view name);

/// Returns the payload, in bytes, of a call with the given numbers of elements in its local
/// buffers: for an all-to-all the input, else the larger buffer (the whole one of a gather or
/// scatter). `kUnknown` if the element type is unknown.
std::int64_t local_call_payload_bytes(LoggedOperation operation, std::int64_t in_elements,
                                      std::int64_t out_elements, std::int64_t element_bytes);

}  // namespace stepwright::logs
