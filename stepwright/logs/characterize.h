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

/// Number, bytes and time of the logged calls of one operation in groups of one size, summed over
/// all ranks in the log.
struct LoggedOperationVolume {
  LoggedOperation operation{};
  /// Number of ranks in the group of a call; 0: the log does not say.
  std::int64_t group_size = 0;
  std::int64_t count = 0;
  /// Payload bytes (full buffers), summed over the calls whose payload is known.
  std::int64_t payload_bytes = 0;
  /// Number of calls whose payload is unknown, since the log does not state it.
  std::int64_t unknown = 0;
  std::int64_t logged_bytes = 0;  ///< Bytes that the log states for calls whose payload is unknown.
  std::int64_t timed = 0;         ///< Number of calls whose duration is in the log.
  double seconds = 0;             ///< Sum of the durations of the timed calls, in seconds.
};

/// Returns number, bytes and time of a log's calls for each operation and group size, in this
/// order.
std::vector<LoggedOperationVolume> operation_volumes(const CommunicationLog& log);

/// Number, bytes and time of the calls of one operation whose payload is from k to 2k - 1 bytes,
/// where k is the key in `SizeHistogram`; k = 0: empty messages.
struct PayloadSizeClass {
  std::int64_t count = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t timed = 0;
  double seconds = 0;
};
using SizeHistogram = std::map<LoggedOperation, std::map<std::int64_t, PayloadSizeClass>>;
SizeHistogram size_histogram(const CommunicationLog& log);

/// The communication in the logs of a job: everything that `stepwright characterize` prints.
struct LoggedCommunicationSummary {
  std::int64_t calls = 0;
  /// Number of log lines that should be calls but that no reader could explain.
  std::int64_t unexplained = 0;
  std::vector<LoggedOperationVolume> by_operation;
  SizeHistogram histogram;
  std::vector<CommunicatorRole> communicators;
  std::vector<LatencyBandwidthFit> latency;
  std::vector<LatencyDominatedCalls> below_knee;
  BatchableMessages batching;
  RouterDecidedTraffic routed;
  std::vector<LogFileReadResult> sources;
};

/// Summarises the calls of a log for `stepwright characterize`. `knee_bytes`: payload below which
/// latency takes more time than bandwidth, for operations whose times are not logged; nullopt: not
/// known.
LoggedCommunicationSummary summarise_logged_calls(const CommunicationLog& log,
                                                  std::optional<double> knee_bytes);

}  // namespace stepwright::logs
