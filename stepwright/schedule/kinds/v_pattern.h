#pragma once

#include <array>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Two chunks, down the pipeline and up again; one pattern of six parts for each micro-batch, the
/// next one six units later (2405.15362): units from one position to the next on the way down and
/// up of its forward and of its data gradients, and units that it waits where it turns. The waits
/// are the smallest, of all that leave no two parts of a position at the same place of the pattern,
/// with which a position holds the fewest micro-batches (searched for 1 to 12 positions).
struct VPattern {
  std::array<std::int64_t, 4> step;
  std::array<std::int64_t, 3> wait;
};

/// All parts of all micro-batches by their time in the pattern. Bubbles close when they are played:
/// the pattern says only the order.
Turns in_order(const VPattern& pattern, const PipelineSize& size);

/// The traits of the schedules with such a pattern.
inline constexpr ScheduleTraits kVTraits = {
    .placement = PlacementKind::kV, .least_chunks = 2, .most_chunks = 2, .alone = false};

}  // namespace stepwright::schedule
