#pragma once

#include <cstdint>

namespace stepwright::schedule {

// If positions have several chunks, micro-batches come in groups: a group passes through one chunk
// after the other. The last group may be smaller. Megatron-Core requires that no group is smaller
// than the number of positions (megatron/core/pipeline_parallel/schedules.py,
// forward_backward_pipelining_with_interleaving), as a chunk would otherwise wait for the previous
// one.

/// True if micro-batches may pass through the chunks of pipeline ranks in groups of this size.
bool is_legal_group_size(std::int64_t group, std::int64_t positions, std::int64_t micro_batches);

/// Returns the smallest legal size of a group of micro-batches, with which the fewest micro-batches
/// wait for their backward; all micro-batches if there are too few for a group.
std::int64_t min_group_size(std::int64_t positions, std::int64_t micro_batches);

/// True if PyTorch uses this size of a group of micro-batches: it makes micro-batches / pipeline
/// ranks equal groups, rounded down (torch/distributed/pipelining/schedules.py,
/// ScheduleInterleaved1F1B).
bool is_pytorch_micro_batch_group_size(std::int64_t group, std::int64_t positions,
                                       std::int64_t micro_batches);

}  // namespace stepwright::schedule
