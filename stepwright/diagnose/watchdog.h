#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/evidence.h"

namespace stepwright::diagnose {

/// A time-out that PyTorch's watchdog reports in a log. Numbers that the line lacks are `kUnknown`.
struct WatchdogTimeout {
  std::int64_t rank = logs::kUnknown;
  /// The call that timed out, without its process group; `sequence` may be `kUnknown`.
  RankCommunicationCall call;
  /// Number of elements in the input buffer of this rank's call.
  std::int64_t elements = logs::kUnknown;
  std::int64_t limit_ms = logs::kUnknown;
};

/// Reads a time-out from a log line of PyTorch's watchdog: "[Rank 1] Watchdog caught collective
/// operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=4, NumelOut=4,
/// Timeout(ms)=600000) ran for 600020 milliseconds before timing out.". Any of these parts may be
/// missing; nullopt: another line.
std::optional<WatchdogTimeout> read_watchdog_timeout(std::string_view line);

/// How far a rank had come with the calls of a process group when PyTorch's watchdog gave up.
struct RankCallProgress {
  std::int64_t rank = logs::kUnknown;
  DiagnosedProcessGroup group;
  /// Sequence number, in the group, of the call that did not end.
  std::int64_t at = logs::kUnknown;
  /// Sequence number, in the group, of the last call that the rank enqueued.
  std::int64_t enqueued = logs::kUnknown;
};

/// Reads how far a rank had come from a log line of PyTorch's watchdog: "[PG ID 0 PG GUID
/// 0(default_pg) Rank 1] Exception (either an error or timeout) detected by watchdog at work: 808,
/// last enqueued NCCL work: 811, last completed NCCL work: 807."; nullopt: another line.
std::optional<RankCallProgress> read_rank_progress_from_watchdog_line(std::string_view line);

/// Reads which ranks PyTorch itself blames for a time-out (TORCH_NCCL_DESYNC_DEBUG=1,
/// torch/csrc/distributed/c10d/TraceUtils.h): "[2] finished collective #5, but didn't join
/// collective #6 (count from 1)"; empty: the line names none.
std::vector<std::int64_t> read_ranks_blamed_by_pytorch(std::string_view line);

/// Returns the whole numbers in a list: "[0, 1, 3]" or "1, 3".
std::vector<std::int64_t> numbers_in_list(std::string_view list);

}  // namespace stepwright::diagnose
