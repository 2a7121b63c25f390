#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/logs/record.h"
#include "stepwright/logs/record_list.h"

namespace stepwright::logs {

/// Programs whose logs are read.
enum class LogFormat : std::uint8_t {
  kNcclText,        ///< Text that NCCL prints with NCCL_DEBUG=INFO.
  kKineto,          ///< Chrome trace of the PyTorch profiler.
  kFlightRecorder,  ///< Dump of PyTorch's flight recorder, pickle or JSON.
  kExecutionTrace,  ///< PyTorch's host execution trace.
  kChakra,          ///< Trace of Chakra, in protobuf.
  kDeepSpeed,       ///< DeepSpeed's communication logger, text.
  kDeepSpeedRaw,    ///< DeepSpeed's raw data or summary as JSON.
  kNcclProfiler,    ///< NCCL's example profiler plugin.
  kNcclInspector,   ///< Output of NCCL's inspector.
  kNcclTests,       ///< Text that nccl-tests prints.
  kLedger,          ///< Ledger of `stepwright train --ledger`.
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

/// A process group as a log names it.
struct LogCommunicator {
  std::string name;                 ///< A handle, a hash, a name: unique in its log.
  std::int64_t size = 0;            ///< Number of ranks; 0: unknown.
  std::vector<std::int64_t> ranks;  ///< Global, in group order; empty: not known.
};

/// The parts of an all-to-all, where a log says them.
struct LogExchange {
  std::int64_t line = 0;  ///< Line of its record, as are source and rank.
  std::int64_t rank = kUnknown;
  std::int32_t source = 0;
  /// Bytes sent to each member of the group, in group order.
  std::vector<std::int64_t> sent_bytes;
};

/// A line that no reader could explain.
struct Unexplained {
  std::int64_t line = 0;
  std::string reason;
};

/// The outcome of one file.
struct LogSource {
  std::string file;
  LogFormat format{};
  std::string version;             ///< Version of the program or the format, as the file says it.
  std::int64_t world = 0;          ///< Ranks of the job; 0: not known.
  std::int64_t lines = 0;          ///< Lines, events or entries read.
  std::int64_t unexplained = 0;    ///< Lines that should be calls and could not be read.
  std::vector<Unexplained> first;  ///< The first unexplained lines.
  std::vector<std::string> notes;  ///< Assumptions and gaps that a person should know.
  std::vector<double> step_starts_s;    ///< Marks of steps, by the clock of the file.
  std::int64_t steps = 0;               ///< Number of steps that its calls are of; 0: not said.
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
  RecordList records;
  std::vector<LogExchange> exchanges;

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

}  // namespace stepwright::logs
