#pragma once

#include <array>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// A schedule pattern for two chunks per position, down the pipeline and up again (2405.15362).
/// Each micro-batch has six parts of one time unit, and the next micro-batch follows six units
/// later. `step`: units from one position to the next, on the way down and up, of the forward and
/// of the data gradients; `wait`: units that the micro-batch waits where it turns round. Of all
/// waits that give no two parts of a position the same unit of the pattern, these are the smallest
/// with which a position keeps the fewest micro-batches (searched for 1 to 12 positions).
struct VPattern {
  std::array<std::int64_t, 4> step;
  std::array<std::int64_t, 3> wait;
};

/// Returns all parts of all micro-batches, sorted by their time in the pattern. The pattern fixes
/// only the order: bubbles close when the turns are simulated.
Turns in_order(const VPattern& pattern, const PipelineSize& size);

/// Traits of the schedules that have such a V pattern.
inline constexpr ScheduleTraits kVTraits = {
    .placement = PlacementKind::kV, .least_chunks = 2, .most_chunks = 2, .alone = false};

}  // namespace stepwright::schedule
