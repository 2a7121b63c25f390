#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/evidence.h"

namespace stepwright::diagnose {

/// A time-out that PyTorch's watchdog reports. Numbers that its line does not have are `kUnknown`.
struct TimeOut {
  std::int64_t rank = logs::kUnknown;
  RankCall call;  ///< The call; its group is not set yet, and `sequence` may be `kUnknown`.
  std::int64_t elements = logs::kUnknown;  ///< Number of elements in the rank's input buffer.
  std::int64_t limit_ms = logs::kUnknown;
};

/// Reads "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7,
/// OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600020 milliseconds before
/// timing out.", with any of these parts missing.
std::optional<TimeOut> read_time_out(std::string_view line);

/// How far a rank had come in a group when its watchdog gave up.
struct RankProgress {
  std::int64_t rank = logs::kUnknown;
  RankGroup group;
  std::int64_t at = logs::kUnknown;  ///< Sequence number of the call that did not end.
  /// Sequence number of the last call that the rank enqueued.
  std::int64_t enqueued = logs::kUnknown;
};

/// Reads "[PG ID 0 PG GUID 0(default_pg) Rank 1] Exception (either an error or timeout) detected by
/// watchdog at work: 808, last enqueued NCCL work: 811, last completed NCCL work: 807."
std::optional<RankProgress> read_watchdog_progress(std::string_view line);

/// Reads the ranks that PyTorch itself names as the reason of a time-out
/// (TORCH_NCCL_DESYNC_DEBUG=1, torch/csrc/distributed/c10d/TraceUtils.h): "[2] finished collective
/// #5, but didn't join collective #6 (count from 1)"; empty: the line names none.
std::vector<std::int64_t> read_lagging_ranks(std::string_view line);

/// Reads the whole numbers of a list: "[0, 1, 3]" or "1, 3".
std::vector<std::int64_t> listed_numbers(std::string_view list);

}  // namespace stepwright::diagnose
