#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// The call that profilers, recorders and execution traces of PyTorch name so: "allreduce",
/// "_allgather_base", "c10d::allreduce_", "nccl:all_reduce", "nccl:send 0->1", ... Nothing when it
/// is no call that moves data or waits for all.
std::optional<LogOperation> torch_call(std::string_view name);

/// Whether a name stands for something that is no call itself: a wait, the bracket around coalesced
/// calls, ...
bool is_no_torch_call(std::string_view name);

/// Payload of a call whose local buffers have so many elements in all: the larger one, which is the
/// whole of a gather or scatter; of an all-to-all the input. `kUnknown` without a type.
std::int64_t local_payload(LogOperation operation, std::int64_t in_elements,
                           std::int64_t out_elements, std::int64_t element_bytes);

}  // namespace stepwright::logs
