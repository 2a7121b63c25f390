#pragma once

#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// The time that each record's collective took the last rank to come: the shortest of all ranks'
/// durations of the same call, the n-th of its kind in its group. What is more is waiting. A call
/// that only one rank logged has its own duration; `kNoTime` where there is none; no list of a log
/// without times.
std::vector<double> transfer_times(const Log& log);

/// Bytes per second and rank that the wires of a group carry during such a call when it is sent in
/// the least way (nccl-tests' busbw).
double bus_rate(LogOperation operation, std::int64_t group_size, double payload_bytes,
                double seconds);

}  // namespace stepwright::logs
