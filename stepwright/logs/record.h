#pragma once

#include <cstdint>
#include <limits>

#include "stepwright/core/named.h"

namespace stepwright::logs {

/// The operation of a call of a communication library, whoever logged it.
enum class LogOperation : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSend,
  kReceive,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kBarrier,
};
inline constexpr Named<LogOperation> kLogOperationNames[] = {
    {LogOperation::kAllReduce, "all_reduce"},
    {LogOperation::kAllGather, "all_gather"},
    {LogOperation::kReduceScatter, "reduce_scatter"},
    {LogOperation::kAllToAll, "all_to_all"},
    {LogOperation::kSend, "send"},
    {LogOperation::kReceive, "recv"},
    {LogOperation::kBroadcast, "broadcast"},
    {LogOperation::kReduce, "reduce"},
    {LogOperation::kGather, "gather"},
    {LogOperation::kScatter, "scatter"},
    {LogOperation::kBarrier, "barrier"}};

/// Whether a call moves one message between two ranks.
constexpr bool is_point_to_point(LogOperation operation) {
  return operation == LogOperation::kSend || operation == LogOperation::kReceive;
}

inline constexpr std::int64_t kUnknown = -1;
/// Ranks that a job may have.
inline constexpr std::int64_t kMostJobRanks = 10'000'000;
inline constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

/// One call of one rank; what a log does not say is `kUnknown` or `kNoTime`, never a guess.
struct LogRecord {
  std::int64_t line = 0;  ///< Line of the file, or number of the event or entry, from 1.
  std::int64_t rank = kUnknown;
  /// The full buffer: an all-gather's output, a reduce-scatter's input, the local input of an
  /// all-to-all, the message of a send.
  std::int64_t payload_bytes = kUnknown;
  /// Bytes that the log states, where the payload is unknown.
  std::int64_t logged_bytes = kUnknown;
  std::int64_t peer = kUnknown;    ///< Global rank of the other side of a message.
  std::int64_t count = 1;          ///< Equal calls that stand for one.
  double enqueued_s = kNoTime;     ///< When the host asked for it, by the clock of its file.
  double start_s = kNoTime;        ///< When the call began, by the same clock.
  double duration_s = kNoTime;     ///< Seconds of one call, with the wait for others.
  double exposed_s = kNoTime;      ///< Seconds of it beside no computation of the rank.
  std::int32_t communicator = -1;  ///< An index into `Log::communicators`.
  std::int32_t source = 0;         ///< An index into `Log::sources`.
  /// Number of a job's start, where it was started again in the same log.
  std::int32_t run = 0;
  LogOperation operation{};
  std::uint8_t element_bytes = 0;  ///< Bytes of an element; 0: unknown.
};

}  // namespace stepwright::logs
