#pragma once

#include <cstdint>

namespace stepwright::schedule {

// With several chunks on a position micro-batches come in groups, each through one chunk after the
// other; the last group may be smaller. Megatron-Core runs those in which no group is smaller than
// the pipeline is long (megatron/core/pipeline_parallel/schedules.py,
// forward_backward_pipelining_with_interleaving): else a chunk would wait for the one before it.

/// Whether micro-batches may come in groups of so many.
bool is_group(std::int64_t group, std::int64_t positions, std::int64_t micro_batches);

/// The smallest such group, which keeps the fewest micro-batches waiting; all micro-batches where
/// there are too few of them for any.
std::int64_t least_group(std::int64_t positions, std::int64_t micro_batches);

/// Whether PyTorch, which takes as many groups as there are positions in the micro-batches, all
/// alike (torch/distributed/pipelining/schedules.py, ScheduleInterleaved1F1B), has this group.
bool is_even_group(std::int64_t group, std::int64_t positions, std::int64_t micro_batches);

}  // namespace stepwright::schedule
