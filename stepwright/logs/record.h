#pragma once

#include <cstdint>
#include <limits>

#include "stepwright/core/named.h"

namespace stepwright::logs {

/// Operations of communication libraries, with one name for all log formats.
enum class LoggedOperation : std::uint8_t {
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
inline constexpr Named<LoggedOperation> kLogOperationNames[] = {
    {LoggedOperation::kAllReduce, "all_reduce"},
    {LoggedOperation::kAllGather, "all_gather"},
    {LoggedOperation::kReduceScatter, "reduce_scatter"},
    {LoggedOperation::kAllToAll, "all_to_all"},
    {LoggedOperation::kSend, "send"},
    {LoggedOperation::kReceive, "recv"},
    {LoggedOperation::kBroadcast, "broadcast"},
    {LoggedOperation::kReduce, "reduce"},
    {LoggedOperation::kGather, "gather"},
    {LoggedOperation::kScatter, "scatter"},
    {LoggedOperation::kBarrier, "barrier"}};

/// True if a call moves one message between two ranks.
constexpr bool is_point_to_point(LoggedOperation operation) {
  return operation == LoggedOperation::kSend || operation == LoggedOperation::kReceive;
}

inline constexpr std::int64_t kUnknown = -1;
/// The most ranks that a job can have.
inline constexpr std::int64_t kMaxJobRanks = 10'000'000;
inline constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

/// One logged call of one rank. Values that the log does not state are `kUnknown` or `kNoTime`,
/// never a guess.
struct LoggedCall {
  std::int64_t line = 0;  ///< Line of the call in its file, or index of its event or entry, from 1.
  std::int64_t rank = kUnknown;
  /// Bytes of the full buffer: an all-gather's output, a reduce-scatter's input, the local input of
  /// an all-to-all, the message of a send.
  std::int64_t payload_bytes = kUnknown;
  /// Bytes that the log states for the call, if the payload cannot be computed from them (only a
  /// shard is logged, and the group size is unknown).
  std::int64_t logged_bytes = kUnknown;
  std::int64_t peer = kUnknown;  ///< Global rank at the other end of a send or receive.
  /// Number of equal logged calls for which this record stands.
  std::int64_t count = 1;
  /// Time at which the host enqueued the call, in seconds on the clock of its file.
  double enqueued_s = kNoTime;
  double start_s = kNoTime;  ///< Time at which the call began, in seconds on the clock of its file.
  double duration_s = kNoTime;  ///< Seconds of one call, including the wait for other ranks.
  /// Seconds of the call during which the rank computed nothing (exposed time).
  double exposed_s = kNoTime;
  /// Process group of the call: an index into `CommunicationLog::communicators`; -1: not known.
  std::int32_t communicator = -1;
  std::int32_t source = 0;  ///< Log file: an index into `CommunicationLog::sources`.
  /// Index of the job's start to which the call belongs, from 0, if the log contains several starts
  /// of the job.
  std::int32_t run = 0;
  LoggedOperation operation{};
  /// Bytes of one element of the call's tensors; 0: not known.
  std::uint8_t element_bytes = 0;
};

}  // namespace stepwright::logs
