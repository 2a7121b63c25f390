#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// The end of a rank, as a launcher reports it.
struct LauncherReportedEnd {
  std::int64_t rank = logs::kUnknown;
  bool local = false;         ///< True if `rank` is torchrun's local rank on its node.
  bool unresponsive = false;  ///< True if torchrun asked the rank to end and then had to kill it.
  std::string what;  ///< How it ended: "signal 9 (SIGKILL)"; empty: the line only names the rank.
};

/// Reads lines of torchrun, srun and mpirun about ranks that ended.
class LauncherLines {
 public:
  /// Reads one line; nullopt: the line is not about a rank's end.
  std::optional<LauncherReportedEnd> read(std::string_view line);

 private:
  std::optional<LauncherReportedEnd> read_block(std::string_view line);

  /// Rank of the block of torchrun's report that is being read.
  std::int64_t block_rank_ = logs::kUnknown;
  bool root_cause_ = false;  ///< True after the heading of the report's last block, the root cause.
};

}  // namespace stepwright::diagnose
