#include "stepwright/logs/readers/read_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/readers/format.h"
#include "stepwright/logs/readers/kineto.h"
#include "stepwright/logs/readers/nccl_plugin.h"
#include "stepwright/logs/readers/nccl_text.h"
#include "stepwright/logs/readers/readers.h"

namespace stepwright::logs {
namespace {

/// Times of two events may be out of order by this much.
constexpr double kClockStep_s = 1e-6;

/// Returns the name of a value that is impossible in any job: the count, a rank or a time; empty:
/// all are possible.
std::string_view impossible_in(const LoggedCall& record) {
  constexpr double kLongest_s = 1e8;  // three years
  constexpr double kLatest_s = 1e13;
  constexpr std::int64_t kMostRepeats = 1'000'000'000'000;
  const auto is_rank = [](std::int64_t rank) { return rank >= kUnknown && rank < kMaxJobRanks; };
  const auto is_clock = [](double time_s) {
    return std::isnan(time_s) || std::abs(time_s) <= kLatest_s;
  };
  const auto is_length = [](double time_s) {
    return std::isnan(time_s) || (time_s >= -kClockStep_s && time_s <= kLongest_s);
  };
  if (record.count < 1 || record.count > kMostRepeats) return "a number of calls that no job makes";
  if (!is_rank(record.rank) || !is_rank(record.peer)) return "a rank that no job has";
  if (!is_clock(record.enqueued_s) || !is_clock(record.start_s) || !is_length(record.duration_s)) {
    return "a time that no call takes";
  }
  return {};
}

/// Removes calls with impossible values, whichever program logged them.
void take_out_impossible(CommunicationLog& log) {
  log.records.erase_if([&](const LoggedCall& record) {
    const std::string_view reason = impossible_in(record);
    if (reason.empty()) return false;
    log.sources[static_cast<std::size_t>(record.source)].count_unexplained_line(
        record.line, std::string(reason));
    return true;
  });
}

/// Removes calls that would make the sum of a log's bytes larger than any job can send, so that
/// sums do not overflow.
void take_out_gigantic(CommunicationLog& log) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 61;
  std::int64_t sum = 0;
  log.records.erase_if([&](const LoggedCall& record) {
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
    log.sources[static_cast<std::size_t>(record.source)].count_unexplained_line(
        record.line, "more bytes than any job sends");
    return true;
  });
}

}  // namespace

CommunicationLog read_logs(std::span<const std::string> files) {
  std::vector<FileByteReader> opened;
  for (const std::string& file : files) opened.emplace_back(std::filesystem::path(file));
  return read_logs(opened);
}

CommunicationLog read_logs(std::span<FileByteReader> files) {
  CommunicationLog log;
  NcclTextReader nccl(log);
  NcclProfilerReader profiler(log);
  for (FileByteReader& bytes : files) {
    switch (recognise_log_format(bytes)) {
      case LogFormat::kNcclText: nccl.read(bytes); break;
      case LogFormat::kKineto: read_kineto_calls(bytes, log); break;
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
  take_out_impossible(log);
  take_out_gigantic(log);
  return log;
}

CommunicationLog read_kineto_host_traces(std::span<const std::string> files,
                                         const std::function<void(const KinetoTrace&)>& take) {
  CommunicationLog log;
  for (const std::string& file : files) {
    FileByteReader bytes{std::filesystem::path(file)};
    take(read_kineto_host_trace(bytes, log));
  }
  take_out_impossible(log);
  take_out_gigantic(log);
  return log;
}

void assume_group_size(CommunicationLog& log, std::int64_t ranks) {
  const auto assumed = static_cast<std::int32_t>(log.communicators.size());
  log.communicators.push_back({.name = "assumed", .size = ranks, .ranks = {}});
  for (LogCommunicator& group : log.communicators) {
    if (group.size == 0) group.size = ranks;
  }
  log.records.change_kinds([&](LoggedCall& record) {
    const bool unnamed = record.communicator < 0;
    if (unnamed) record.communicator = assumed;
    const bool part = record.payload_bytes == kUnknown && record.logged_bytes != kUnknown;
    if (part) record.payload_bytes = buffer_bytes(record.logged_bytes, log.group_size(record));
    if (unnamed || part) {
      log.sources[static_cast<std::size_t>(record.source)].note(
          fmt::format("Groups of unknown size are assumed to have {} ranks.", ranks));
    }
  });
}

}  // namespace stepwright::logs
