#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// The line time = latency + payload / rate through the calls of one operation in groups of one
/// size, as the log timed them.
struct LatencyLine {
  LogOperation operation{};
  std::int64_t group_size = 0;
  double latency_s = 0;
  double rate_bytes_per_s = 0;  ///< Bytes of payload per second.
  /// Below it latency takes more time than bandwidth.
  [[nodiscard]] double knee_bytes() const { return latency_s * rate_bytes_per_s; }
};

/// One line for each operation and size of group that was timed at three sizes or more and grows
/// with them: through the shortest transfer of each size, each weighted alike.
std::vector<LatencyLine> latency_lines(const Log& log);

/// Calls whose payload is below the knee of their operation.
struct SmallCalls {
  LogOperation operation{};
  std::int64_t group_size = 0;
  double knee_bytes = 0;
  std::int64_t count = 0;          ///< Calls below the knee.
  std::int64_t all = 0;            ///< All calls of the operation.
  std::int64_t payload_bytes = 0;  ///< Payload bytes below the knee.
  double seconds = 0;              ///< Seconds of calls below the knee, where timed.
};

/// The small calls of each operation and size of group that has a knee: the one of its line among
/// `lines`, else `knee_bytes` when given. Empty messages are left out.
std::vector<SmallCalls> small_calls(const Log& log, const std::vector<LatencyLine>& lines,
                                    std::optional<double> knee_bytes);

/// Small messages to one rank that follow each other with no other call between them: sent as one,
/// each but the first would start for nothing.
struct Batching {
  std::int64_t messages = 0;  ///< Sends below the knee.
  std::int64_t batches = 0;   ///< Batches that they would make.
  double saved_s = 0;         ///< Summed over ranks: a latency for each message less; 0: not timed.
};
Batching batching_of(const Log& log, const std::vector<LatencyLine>& lines,
                     std::optional<double> knee_bytes);

}  // namespace stepwright::logs
