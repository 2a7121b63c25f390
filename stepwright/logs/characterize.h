#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "stepwright/logs/communicator_roles.h"
#include "stepwright/logs/knee.h"
#include "stepwright/logs/log.h"
#include "stepwright/logs/routed_traffic.h"

namespace stepwright::logs {

/// Calls of one operation in groups of one size, of all ranks in the log.
struct OperationVolume {
  LogOperation operation{};
  std::int64_t group_size = 0;  ///< Ranks of a group; 0: not known.
  std::int64_t count = 0;
  std::int64_t payload_bytes = 0;  ///< Full-buffer bytes of the calls whose payload is known.
  std::int64_t unknown = 0;        ///< Calls whose payload is not known.
  std::int64_t logged_bytes = 0;   ///< Logged bytes of calls whose payload is not known.
  std::int64_t timed = 0;          ///< Calls that say how long they took.
  double seconds = 0;              ///< Seconds of the timed calls.
};

/// The volumes by operation, then by size of the group.
std::vector<OperationVolume> volumes(const Log& log);

/// Calls and bytes of payloads from k to 2k - 1 (0 holds empty messages), by operation: key k.
struct SizeClass {
  std::int64_t count = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t timed = 0;
  double seconds = 0;
};
using SizeHistogram = std::map<LogOperation, std::map<std::int64_t, SizeClass>>;
SizeHistogram size_histogram(const Log& log);

/// The communication in the logs of a job: all that `stepwright characterize` says.
struct Characterization {
  std::int64_t calls = 0;
  std::int64_t unexplained = 0;  ///< Lines of the files.
  std::vector<OperationVolume> by_operation;
  SizeHistogram histogram;
  std::vector<CommunicatorRole> communicators;
  std::vector<LatencyLine> latency;
  std::vector<SmallCalls> below_knee;
  Batching batching;
  RoutedTraffic routed;
  std::vector<LogSource> sources;
};

/// Characterizes a log; `knee_bytes` stands for knees that the log has no times for.
Characterization characterize(const Log& log, std::optional<double> knee_bytes);

}  // namespace stepwright::logs
