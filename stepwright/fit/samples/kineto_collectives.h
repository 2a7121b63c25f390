#pragma once

#include <string>

#include "stepwright/core/csv.h"
#include "stepwright/fit/samples/kineto_samples.h"

namespace stepwright::fit {

/// The messages read from a trace, and the kernels that gave none.
struct TraceCollectives {
  /// Table in the second schema of `read_collective_samples`; its lines are numbers of events.
  CsvTable table;
  UnusedByName unused;
};

/// Reads NCCL's collectives from a trace of nodes with `devices_per_node` devices, whose ranks are
/// numbered node by node. A kernel lasts from its rank's arrival, which may be before the others',
/// to the end, so that the least time of equal messages over all their calls is their sample. Only
/// kernels that ran alone count. Fails with `kInput` when the trace has no kernel of NCCL.
TraceCollectives trace_collectives(const logs::KinetoTrace& trace, std::int64_t devices_per_node);

}  // namespace stepwright::fit
