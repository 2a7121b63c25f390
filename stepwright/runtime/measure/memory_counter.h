#pragma once

#include "stepwright/runtime/measure/counted_memory.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/rank/held_tensors.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// Called before a step: resets the peak of allocation, and returns the bytes allocated now.
std::int64_t begin_memory_count();

/// Returns the memory that the rank held in the step that just ended, without a prediction.
/// `before`: the result of `begin_memory_count`.
CountedMemory count_memory(const RankState& rank, const HeldBytes& held, std::int64_t before);

/// Collects the counted memory of all ranks on rank 0, which writes the file; every rank calls it.
/// Fails with `kRuntime`.
void write_memory(const Groups::World& world, const CountedMemory& memory, const std::string& path);

}  // namespace stepwright::runtime
