#pragma once

#include <string>

#include "stepwright/core/csv.h"
#include "stepwright/fit/samples/kineto_samples.h"

namespace stepwright::fit {

/// The messages of a trace.
struct TraceCollectives {
  CsvTable table;  ///< The second schema of `read_collective_samples`; lines are events.
  UnusedByName unused;
};

/// The collectives of NCCL in a trace on nodes of `devices_per_node`, whose ranks are numbered node
/// by node. A kernel lasts from the first rank's arrival on its own rank to the end, so that the
/// least time of equal messages, over all their calls, is their sample. Only kernels that ran alone
/// count. Fails with `kInput` when the trace has no kernel of NCCL.
TraceCollectives trace_collectives(const logs::KinetoTrace& trace, std::int64_t devices_per_node);

}  // namespace stepwright::fit
