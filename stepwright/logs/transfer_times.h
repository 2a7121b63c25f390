#pragma once

#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Returns the transfer seconds of each record: the shortest duration of its collective on any
/// rank, which is that of the last rank to arrive; a longer duration is waiting. Collectives are
/// matched across ranks as the n-th of their kind in their group. A call that only one rank logged
/// keeps its duration. `kNoTime`: no duration was logged; empty list: the log has no times.
std::vector<double> logged_transfer_seconds(const CommunicationLog& log);

/// Returns the bus bandwidth of a call as nccl-tests define busbw, in bytes per second and rank; 0:
/// `seconds` is 0.
double logged_bus_bandwidth(LoggedOperation operation, std::int64_t group_size,
                            double payload_bytes, double seconds);

}  // namespace stepwright::logs
