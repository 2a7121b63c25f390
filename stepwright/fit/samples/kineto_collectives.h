#pragma once

#include <string>

#include "stepwright/core/csv.h"
#include "stepwright/fit/samples/kineto_samples.h"

namespace stepwright::fit {

/// The timed collectives read from a PyTorch profiler trace, and the kernels that gave none.
struct TraceCollectiveSamples {
  /// Table in the second schema of `read_collective_samples`; line numbers are indices of trace
  /// events.
  CsvTable table;
  UnusedByName unused;
};

/// Reads timed NCCL collectives from a trace of nodes with `devices_per_node` devices, whose ranks
/// are numbered node by node. A kernel lasts from the arrival of its rank, which may be before the
/// others', to the end; so the least time over all calls of equal messages is their sample. Only
/// kernels that ran alone count. Fails with `kInput` if the trace has no NCCL kernel.
TraceCollectiveSamples read_trace_collectives(const logs::KinetoTrace& trace,
                                              std::int64_t devices_per_node);

}  // namespace stepwright::fit
