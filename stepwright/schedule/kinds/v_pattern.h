#pragma once

#include <array>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// A repeating pattern of work for two chunks per pipeline rank, down the pipeline and up again
/// (arXiv 2405.15362). Each micro-batch has six parts of one time unit (forward, data and weight
/// gradients of both chunks), and the next one follows six units later. `step`: units from one rank
/// to the next, on the way down and up, of forwards and of data gradients; `wait`: units that the
/// micro-batch waits where it turns round. These are the smallest waits that put no two parts of a
/// rank into one unit and keep the fewest micro-batches (searched for 1 to 12 ranks).
struct VSchedulePattern {
  std::array<std::int64_t, 4> step;
  std::array<std::int64_t, 3> wait;
};

/// Returns the turns (schedule entries) of a pipeline rank by a repeating V pattern (each
/// micro-batch goes down the ranks and up again): all work of all micro-batches, sorted by time in
/// the pattern. The pattern fixes only the order; bubbles close when the schedule is simulated.
Turns schedule_turns_by_v_pattern(const VSchedulePattern& pattern,
                                  const PipelinePositionSizes& size);

/// Properties of all pipeline schedules that repeat a V pattern (each micro-batch goes down the
/// ranks and up again): two chunks per pipeline rank, several ranks.
inline constexpr PipelineScheduleTraits kVShapedScheduleTraits = {
    .placement = ModelChunkPlacementKind::kV, .least_chunks = 2, .most_chunks = 2, .alone = false};

}  // namespace stepwright::schedule
