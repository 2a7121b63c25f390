#pragma once

#include "stepwright/schedule/kinds/route_writer.h"

namespace stepwright::schedule {

/// Returns the turns (schedule entries) of a pipeline rank in the phases of DualPipe. Route 0 is
/// the route whose micro-batches enter at the nearer end of the pipeline. `ranks`: number of ranks
/// in half of a route; `rank`: index of this rank from the nearer end; `count`: micro-batches of
/// each route; `part`: returns the i-th micro-batch of a route as a piece of work.
Turns dual_pipe_schedule_turns(std::int64_t ranks, std::int64_t rank, std::int64_t count,
                               TwoRouteScheduleWriter::PartOf part);

}  // namespace stepwright::schedule
