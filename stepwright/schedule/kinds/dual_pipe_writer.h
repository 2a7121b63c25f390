#pragma once

#include "stepwright/schedule/kinds/route_writer.h"

namespace stepwright::schedule {

/// The turns of a position in the phases of DualPipe. Route 0 is the one whose micro-batches enter
/// nearer to the position. `ranks`: positions of a route's half; `rank`: of this one, from the
/// nearer end; `count`: micro-batches of a route; `part`: the i-th micro-batch of a route as a
/// part.
Turns dual_pipe_turns(std::int64_t ranks, std::int64_t rank, std::int64_t count,
                      RouteWriter::PartOf part);

}  // namespace stepwright::schedule
