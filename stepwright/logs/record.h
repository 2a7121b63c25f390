#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright {

/// What a call of a communication library does, whoever logged it.
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

/// Programs whose logs are read.
enum class LogFormat : std::uint8_t {
  kNcclText,        ///< NCCL_DEBUG=INFO.
  kKineto,          ///< Chrome trace of the PyTorch profiler.
  kFlightRecorder,  ///< Dump of PyTorch's flight recorder, pickle or JSON.
  kExecutionTrace,  ///< PyTorch's host execution trace.
  kChakra,          ///< Chakra's protobuf.
  kDeepSpeed,       ///< DeepSpeed's communication logger, text.
  kDeepSpeedRaw,    ///< Its raw data or summary as JSON.
  kNcclProfiler,    ///< NCCL's example profiler plugin.
  kNcclInspector,   ///< NCCL's inspector.
  kNcclTests,       ///< nccl-tests.
  kLedger,          ///< `stepwright train --ledger`.
};
inline constexpr Named<LogFormat> kLogFormatNames[] = {
    {LogFormat::kNcclText, "nccl-debug"},
    {LogFormat::kKineto, "kineto"},
    {LogFormat::kFlightRecorder, "flight-recorder"},
    {LogFormat::kExecutionTrace, "execution-trace"},
    {LogFormat::kChakra, "chakra"},
    {LogFormat::kDeepSpeed, "deepspeed"},
    {LogFormat::kDeepSpeedRaw, "deepspeed-raw"},
    {LogFormat::kNcclProfiler, "nccl-profiler"},
    {LogFormat::kNcclInspector, "nccl-inspector"},
    {LogFormat::kNcclTests, "nccl-tests"},
    {LogFormat::kLedger, "ledger"}};

inline constexpr std::int64_t kUnknown = -1;
inline constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

/// One call of one rank; what a log does not say is `kUnknown` or `kNoTime`, never a guess.
struct LogRecord {
  std::int64_t line = 0;  ///< Line of the file, or number of the event or entry, from 1.
  std::int64_t rank = kUnknown;
  /// The full buffer: an all-gather's output, a reduce-scatter's input, the local input of an
  /// all-to-all, the message of a send.
  std::int64_t payload_bytes = kUnknown;
  std::int64_t logged_bytes = kUnknown;  ///< What stood in the log, where the payload is unknown.
  std::int64_t peer = kUnknown;          ///< Global rank of the other side of a message.
  std::int64_t count = 1;                ///< Equal calls that stand for one.
  double enqueued_s = kNoTime;           ///< When the host asked for it, by the clock of its file.
  double start_s = kNoTime;              ///< When it began; by the same clock.
  double duration_s = kNoTime;           ///< With the wait for others; of one call.
  double exposed_s = kNoTime;            ///< Of it, what no computation of the rank ran beside.
  std::int32_t communicator = -1;        ///< Into `Log::communicators`.
  std::int32_t source = 0;               ///< Into `Log::sources`.
  std::int32_t run = 0;                  ///< Of a job that was started again in the same log.
  LogOperation operation{};
  std::uint8_t element_bytes = 0;  ///< 0: unknown.
};

/// A process group as a log names it.
struct LogCommunicator {
  std::string name;                 ///< A handle, a hash, a name: unique in its log.
  std::int64_t size = 0;            ///< 0: unknown.
  std::vector<std::int64_t> ranks;  ///< Global, in group order; empty: not known.
};

/// A line that no reader could explain.
struct Unexplained {
  std::int64_t line = 0;
  std::string reason;
};

/// What became of one file.
struct LogSource {
  std::string file;
  LogFormat format{};
  std::string version;             ///< Of the program or the format, as the file says it.
  std::int64_t world = 0;          ///< Ranks of the job; 0: not known.
  std::int64_t lines = 0;          ///< Lines, events or entries read.
  std::int64_t unexplained = 0;    ///< Of these, those that should be calls and could not be read.
  std::vector<Unexplained> first;  ///< The first of them.
  std::vector<std::string> notes;  ///< What the person should know: what is assumed or missing.
  std::vector<double> step_starts_s;    ///< Marks of steps, by the clock of the file.
  std::int64_t steps = 0;               ///< Of which all its calls are; 0: not said.
  bool scatters_as_reductions = false;  ///< An all-reduce may be a reduce-scatter of its payload.
  bool lacks_messages = false;          ///< Sends and receives are never in it.

  /// Counts a line that could not be read and keeps the first few.
  void cannot_explain(std::int64_t line, std::string reason) {
    constexpr std::size_t kKept = 5;
    ++unexplained;
    if (first.size() < kKept) first.push_back({line, std::move(reason)});
  }
  void note(std::string text) {
    for (const std::string& known : notes) {
      if (known == text) return;
    }
    notes.push_back(std::move(text));
  }
};

/// All that was logged, calls in the order of their files.
struct Log {
  std::vector<LogSource> sources;
  std::vector<LogCommunicator> communicators;
  std::vector<LogRecord> records;

  [[nodiscard]] std::int64_t unexplained() const {
    std::int64_t sum = 0;
    for (const LogSource& source : sources) sum += source.unexplained;
    return sum;
  }
  [[nodiscard]] std::int64_t calls() const {
    std::int64_t sum = 0;
    for (const LogRecord& record : records) sum += record.count;
    return sum;
  }
  /// Ranks of the call's communicator; 0 when not known.
  [[nodiscard]] std::int64_t group_size(const LogRecord& record) const {
    if (record.communicator < 0) return 0;
    return communicators[static_cast<std::size_t>(record.communicator)].size;
  }
};

}  // namespace stepwright
