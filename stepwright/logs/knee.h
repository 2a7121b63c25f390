#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// The fitted line time = latency + payload / rate for the calls of one operation in groups of one
/// size, from the durations in a log.
struct LatencyLine {
  LogOperation operation{};
  std::int64_t group_size = 0;
  double latency_s = 0;
  double rate_bytes_per_s = 0;  ///< Rate of the line, in payload bytes per second.
  /// Returns the payload, in bytes, below which latency takes more time than bandwidth.
  [[nodiscard]] double knee_bytes() const { return latency_s * rate_bytes_per_s; }
};

/// Fits one line for each operation and group size that was timed at three payload sizes or more
/// and takes longer for larger ones. Each size counts once, with its shortest transfer.
std::vector<LatencyLine> latency_lines(const Log& log);

/// Calls of one operation and group size whose payload is below the knee (where latency and
/// bandwidth take equal time).
struct SmallCalls {
  LogOperation operation{};
  std::int64_t group_size = 0;
  double knee_bytes = 0;
  std::int64_t count = 0;          ///< Number of calls with a payload below the knee.
  std::int64_t all = 0;            ///< Number of calls of the operation, of any payload.
  std::int64_t payload_bytes = 0;  ///< Payload bytes, summed over the calls below the knee.
  double seconds = 0;              ///< Seconds of the timed calls below the knee.
};

/// Returns the small calls of each operation and group size that has a knee: the knee of its line
/// in `lines`, or without a line `knee_bytes`. Empty messages are left out.
std::vector<SmallCalls> small_calls(const Log& log, const std::vector<LatencyLine>& lines,
                                    std::optional<double> knee_bytes);

/// Small messages that a rank sends to the same rank with no other call between them. Sent as one
/// message, they would pay the latency once.
struct Batching {
  std::int64_t messages = 0;  ///< Number of sends with a payload below the knee.
  std::int64_t batches = 0;   ///< Number of messages if consecutive sends are combined.
  /// Seconds saved, summed over ranks: one latency for each message that is combined with another;
  /// 0: not timed.
  double saved_s = 0;
};
Batching batching_of(const Log& log, const std::vector<LatencyLine>& lines,
                     std::optional<double> knee_bytes);

}  // namespace stepwright::logs
