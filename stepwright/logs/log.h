#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/logs/record.h"
#include "stepwright/logs/record_list.h"

namespace stepwright::logs {

/// Formats of communication logs that can be read.
enum class LogFormat : std::uint8_t {
  kNcclText,        ///< Text that NCCL prints with NCCL_DEBUG=INFO.
  kKineto,          ///< Chrome trace of the PyTorch profiler.
  kFlightRecorder,  ///< Dump of PyTorch's flight recorder, pickle or JSON.
  kExecutionTrace,  ///< Execution trace of the host by PyTorch (`ExecutionTraceObserver`).
  kChakra,          ///< Trace of Chakra, in protobuf.
  kDeepSpeed,       ///< Text of DeepSpeed's communication logger.
  /// Raw data or summary that DeepSpeed's communication logger returns, saved as JSON.
  kDeepSpeedRaw,
  kNcclProfiler,   ///< Trace of NCCL's example profiler plugin.
  kNcclInspector,  ///< Output of NCCL's inspector.
  kNcclTests,      ///< Text that nccl-tests prints.
  kLedger,         ///< List of sent messages that `stepwright train --ledger` writes.
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

/// A process group as a log describes it.
struct LogCommunicator {
  /// Name of the communicator in the log: a handle, a hash or a name, unique in the log.
  std::string name;
  std::int64_t size = 0;            ///< Number of ranks in the group; 0: not known.
  std::vector<std::int64_t> ranks;  ///< Global ranks in the order of the group; empty: not known.
};

/// The bytes that one rank sends to each member of its group in one all-to-all, if the log states
/// them.
struct LoggedAllToAllParts {
  /// Line of the all-to-all's record in its log file; together with source and rank it identifies
  /// the call.
  std::int64_t line = 0;
  std::int64_t rank = kUnknown;
  std::int32_t source = 0;
  /// Bytes sent to each member of the group, in group order.
  std::vector<std::int64_t> sent_bytes;
};

/// A line of a log that should be a call but that no reader could explain, and why.
struct UnexplainedLine {
  std::int64_t line = 0;
  std::string reason;
};

/// The result of reading one log file: its format, how much was read, and what could not be read.
struct LogFileReadResult {
  std::string file;
  LogFormat format{};
  std::string version;  ///< Version of the logging program or of the format, as the file states it.
  std::int64_t world = 0;  ///< Number of ranks of the job; 0: not known.
  /// Number of lines, events or entries of the log file that were read.
  std::int64_t lines = 0;
  /// Number of lines that should be calls but that could not be read.
  std::int64_t unexplained = 0;
  /// The first few lines that could not be read, with reasons.
  std::vector<UnexplainedLine> first;
  std::vector<std::string> notes;  ///< Notes for the user about assumptions and gaps.
  /// Times at which the steps that the log marks begin, in seconds on the clock of the file; empty:
  /// it marks none.
  std::vector<double> step_starts_s;
  std::int64_t steps = 0;  ///< Number of steps that the logged calls cover; 0: not stated.
  /// True if the program that wrote the log reports some reduce-scatters as all-reduces of equal
  /// payload.
  bool scatters_as_reductions = false;
  /// True if logs of this format never contain sends and receives.
  bool lacks_messages = false;

  /// Counts a line that could not be read, and keeps the first few with their reasons.
  void count_unexplained_line(std::int64_t line, std::string reason) {
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

/// Everything read from the log files of a job; calls are in the order of the files.
struct CommunicationLog {
  std::vector<LogFileReadResult> sources;
  std::vector<LogCommunicator> communicators;
  LoggedCallList records;
  std::vector<LoggedAllToAllParts> exchanges;

  [[nodiscard]] std::int64_t unexplained() const {
    std::int64_t sum = 0;
    for (const LogFileReadResult& source : sources) sum += source.unexplained;
    return sum;
  }
  [[nodiscard]] std::int64_t calls() const {
    std::int64_t sum = 0;
    for (const LoggedCall& record : records) sum += record.count;
    return sum;
  }
  /// Returns the number of ranks of the call's communicator; 0: not known.
  [[nodiscard]] std::int64_t group_size(const LoggedCall& record) const {
    if (record.communicator < 0) return 0;
    return communicators[static_cast<std::size_t>(record.communicator)].size;
  }
};

}  // namespace stepwright::logs
