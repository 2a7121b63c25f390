#pragma once

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Returns the turns (schedule entries) of a pipeline rank under 1F1B: `warm_up` forwards, then
/// alternately one forward and one backward (overlapped if `side_by_side`), then the remaining
/// backwards. With several chunks, micro-batches come in groups, each first through one chunk and
/// then through the next (get_schedule_table of Megatron-Core's schedules.py).
Turns one_forward_one_backward(const PipelinePositionSizes& size, std::int64_t warm_up,
                               bool side_by_side);

/// Returns the number of forwards of a pipeline rank in an interleaved schedule before its steady
/// state of one forward and one backward begins.
inline std::int64_t interleaved_warm_up_forwards(const PipelinePositionSizes& size) {
  return 2 * size.pipeline_positions_after_this() +
         (size.chunks - 1) * size.micro_batch_group_size();
}

}  // namespace stepwright::schedule
