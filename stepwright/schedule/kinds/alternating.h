#pragma once

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// `warm_up` forwards, then one forward and one backward in turn, or side by side, then the
/// remaining backwards; with several chunks micro-batches come in groups, first through one chunk
/// and then through the next (get_schedule_table of Megatron-Core's schedules.py).
Turns one_and_one(const PipelineSize& size, std::int64_t warm_up, bool side_by_side);

/// Forwards before the first backward of a position with several chunks, less the one that the
/// steady state begins with.
inline std::int64_t interleaved_warm_up(const PipelineSize& size) {
  return 2 * size.behind() + (size.chunks - 1) * size.grouped();
}

}  // namespace stepwright::schedule
