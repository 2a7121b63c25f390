#pragma once

#include "stepwright/runtime/measure/counted_memory.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/rank/live_tensor_counter.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// Resets the allocation peak before a step, and returns the bytes allocated now.
std::int64_t begin_step_memory_count();

/// Returns the memory of this rank at the peak of the step that just ended; predicted bytes are
/// left 0. `before`: what `begin_step_memory_count` returned.
CountedPeakMemory count_peak_memory(const RankState& rank, const LiveTensorBytes& held,
                                    std::int64_t before);

/// Collects the counted memory of all ranks on rank 0, which writes it to a file. Every rank must
/// call it. Fails with `kRuntime`.
void write_counted_memory(const RankCommunicators::RankWorld& world,
                          const CountedPeakMemory& memory, const std::string& path);

}  // namespace stepwright::runtime
