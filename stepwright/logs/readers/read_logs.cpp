#include "stepwright/logs/readers/read_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/readers/format.h"
#include "stepwright/logs/readers/kineto.h"
#include "stepwright/logs/readers/nccl_plugin.h"
#include "stepwright/logs/readers/nccl_text.h"
#include "stepwright/logs/readers/readers.h"

namespace stepwright::logs {
namespace {

/// Takes out calls with which the bytes of a log would pass any number that a job can send, so that
/// sums hold.
void take_out_gigantic(Log& log) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 61;
  std::int64_t sum = 0;
  log.records.erase_if([&](const LogRecord& record) {
    std::int64_t bytes = 0;
    std::int64_t with = 0;
    const std::int64_t payload = std::max(record.payload_bytes, record.logged_bytes);
    const bool fits =
        !__builtin_mul_overflow(record.count, std::max<std::int64_t>(payload, 1), &bytes) &&
        !__builtin_add_overflow(sum, bytes, &with) && with <= kMostBytes;
    if (fits) {
      sum = with;
      return false;
    }
    log.sources[static_cast<std::size_t>(record.source)].cannot_explain(
        record.line, "more bytes than any job sends");
    return true;
  });
}

}  // namespace

Log read_logs(std::span<const std::string> files) {
  std::vector<ByteSource> opened;
  for (const std::string& file : files) opened.emplace_back(std::filesystem::path(file));
  return read_logs(opened);
}

Log read_logs(std::span<ByteSource> files) {
  Log log;
  NcclTextReader nccl(log);
  NcclProfilerReader profiler(log);
  for (ByteSource& bytes : files) {
    switch (recognise_log(bytes)) {
      case LogFormat::kNcclText: nccl.read(bytes); break;
      case LogFormat::kKineto: read_kineto(bytes, log); break;
      case LogFormat::kFlightRecorder: read_flight_recorder(bytes, log); break;
      case LogFormat::kLedger: read_ledger_log(bytes, log); break;
      case LogFormat::kExecutionTrace: read_execution_trace(bytes, log); break;
      case LogFormat::kChakra: read_chakra(bytes, log); break;
      case LogFormat::kDeepSpeed: read_deepspeed_text(bytes, log); break;
      case LogFormat::kDeepSpeedRaw: read_deepspeed_raw(bytes, log); break;
      case LogFormat::kNcclProfiler: profiler.read(bytes); break;
      case LogFormat::kNcclInspector: read_nccl_inspector(bytes, log); break;
      case LogFormat::kNcclTests: read_nccl_tests(bytes, log); break;
    }
  }
  nccl.finish();
  profiler.finish();
  take_out_gigantic(log);
  return log;
}

Log read_host_traces(std::span<const std::string> files,
                     const std::function<void(const KinetoTrace&)>& take) {
  Log log;
  for (const std::string& file : files) {
    ByteSource bytes{std::filesystem::path(file)};
    take(read_host_trace(bytes, log));
  }
  take_out_gigantic(log);
  return log;
}

void give_group_size(Log& log, std::int64_t ranks) {
  const auto assumed = static_cast<std::int32_t>(log.communicators.size());
  log.communicators.push_back({.name = "assumed", .size = ranks, .ranks = {}});
  for (LogCommunicator& group : log.communicators) {
    if (group.size == 0) group.size = ranks;
  }
  log.records.change_kinds([&](LogRecord& record) {
    const bool unnamed = record.communicator < 0;
    if (unnamed) record.communicator = assumed;
    const bool part = record.payload_bytes == kUnknown && record.logged_bytes != kUnknown;
    if (part) record.payload_bytes = buffer_bytes(record.logged_bytes, log.group_size(record));
    if (unnamed || part) {
      log.sources[static_cast<std::size_t>(record.source)].note(
          fmt::format("Groups of unknown size are taken to be of {} ranks.", ranks));
    }
  });
}

}  // namespace stepwright::logs
