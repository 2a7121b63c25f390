#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// The line time = latency + payload / rate, fitted to the logged durations of the calls of one
/// operation in groups of one size.
struct LatencyBandwidthFit {
  LoggedOperation operation{};
  std::int64_t group_size = 0;
  double latency_s = 0;
  double rate_bytes_per_s = 0;  ///< Rate of the fitted line, in payload bytes per second.
  /// Returns the payload, in bytes, below which latency takes more time than bandwidth.
  [[nodiscard]] double latency_bandwidth_knee_bytes() const { return latency_s * rate_bytes_per_s; }
};

/// Fits a line time = latency + payload / rate for each operation and group size that was timed at
/// three payload sizes or more and takes longer for larger ones. Each size counts once, with its
/// shortest transfer.
std::vector<LatencyBandwidthFit> latency_bandwidth_fits(const CommunicationLog& log);

/// Calls of one operation and group size whose payload is below the knee: the payload at which
/// latency and bandwidth take equal time.
struct LatencyDominatedCalls {
  LoggedOperation operation{};
  std::int64_t group_size = 0;
  double knee_bytes = 0;
  /// Number of the operation's calls in groups of this size whose payload is below the knee.
  std::int64_t count = 0;
  /// Number of the operation's calls in groups of this size, of any payload.
  std::int64_t all = 0;
  /// Payload bytes, summed over the calls whose payload is below the knee.
  std::int64_t payload_bytes = 0;
  double seconds = 0;  ///< Sum of the durations of the timed calls below the knee, in seconds.
};

/// Returns, for each operation and group size, the calls whose payload is below the knee: the knee
/// of the fitted line in `lines` or, without one, `knee_bytes`. Groups without a knee and empty
/// messages are left out.
std::vector<LatencyDominatedCalls> latency_dominated_calls(
    const CommunicationLog& log, const std::vector<LatencyBandwidthFit>& lines,
    std::optional<double> knee_bytes);

/// Small messages that a rank sends to one other rank with no other call between them. Combined
/// into one message, they would pay the latency once.
struct BatchableMessages {
  /// Number of sends whose payload is below the knee (where latency takes more time than
  /// bandwidth).
  std::int64_t messages = 0;
  /// Number of messages if consecutive small sends to one rank are combined.
  std::int64_t batches = 0;
  /// Seconds saved by combining messages, summed over ranks: one latency for each message that is
  /// combined with an earlier one; 0: not timed.
  double saved_s = 0;
};
BatchableMessages batching_of(const CommunicationLog& log,
                              const std::vector<LatencyBandwidthFit>& lines,
                              std::optional<double> knee_bytes);

}  // namespace stepwright::logs
