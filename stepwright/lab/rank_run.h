#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "stepwright/lab/running_rank.h"

namespace stepwright::lab {

/// How ranks are run.
struct RunOptions {
  std::ostream& out;     ///< Stream for the ranks' standard output, each line after `[RANK] `.
  std::ostream& err;     ///< Stream for the ranks' standard error.
  double timeout_s = 0;  ///< Ranks still running then are stopped; 0: they may take any time.
  double grace_s = 5;    ///< Seconds from SIGTERM to SIGKILL for ranks that are stopped.
  int stop_fd = -1;      ///< When it can be read, ranks are stopped; a second time, killed.
};

/// How a run ended.
struct RunResult {
  std::vector<RankEnd> ranks;
  double seconds = 0;
  /// Why the run did not succeed: the first rank that failed, its node and how, or what stopped the
  /// run. Empty when all ranks ended with exit code 0.
  std::string failure;
};

/// Starts a program as each rank, in order, and waits until all have ended. When one fails, or the
/// time is over, or somebody asks, all get SIGTERM and, after the grace, SIGKILL. Whatever they
/// started is gone as well when this returns, and also when the process that runs it dies. Fails
/// with `kRuntime` when a rank cannot be started.
RunResult run_ranks(std::span<const RankStart> ranks, std::int64_t ranks_per_node,
                    const RunOptions& options);

}  // namespace stepwright::lab
