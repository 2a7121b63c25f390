#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Which orders are found, and how: `schedule/found/found.h`.
const ScheduleDefinition kinds::kAuto = {
    .text =
        "the best of the others and of orders found for the pipeline's own durations and memory",
    .traits = {.placement = PlacementKind::kV, .most_chunks = 2, .alone = false, .found = true}};

}  // namespace stepwright::schedule
