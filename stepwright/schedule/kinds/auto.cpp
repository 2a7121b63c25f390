#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// `schedule/found/found.h` describes how the orders of `auto` are found.
const PipelineScheduleDefinition kinds::kAuto = {
    .text =
        "the best of the others and of orders found for the pipeline's own durations and memory",
    .traits = {
        .placement = ModelChunkPlacementKind::kV, .most_chunks = 2, .alone = false, .found = true}};

}  // namespace stepwright::schedule
