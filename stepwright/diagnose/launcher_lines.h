#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// How a rank ended, as its launcher (torchrun, srun, mpirun) reports it.
struct LauncherReportedEnd {
  std::int64_t rank = logs::kUnknown;
  /// True if `rank` is torchrun's local rank on its node instead of the global rank.
  bool local = false;
  /// True if the rank did not end when torchrun asked it to, and had to be killed.
  bool unresponsive = false;
  /// How the rank ended: "signal 9 (SIGKILL)"; empty: the line only names the rank.
  std::string what;
};

/// Recognises log lines of torchrun, srun and mpirun that report how ranks ended.
class LauncherRankEndParser {
 public:
  /// Reads the next log line; nullopt: it does not say how a rank ended.
  std::optional<LauncherReportedEnd> read_launcher_log_line(std::string_view line);

 private:
  std::optional<LauncherReportedEnd> read_block(std::string_view line);

  /// Rank in the entry of torchrun's failure report that is being read.
  std::int64_t block_rank_ = logs::kUnknown;
  /// True after the heading of the last entry of torchrun's failure report, the root cause.
  bool root_cause_ = false;
};

}  // namespace stepwright::diagnose
