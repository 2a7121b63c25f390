#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "stepwright/lab/running_rank.h"

namespace stepwright::lab {

/// Options for running the ranks of a lab.
struct RunOptions {
  std::ostream& out;     ///< Stream for the ranks' standard output, each line after `[RANK] `.
  std::ostream& err;     ///< Stream for the ranks' standard error, in the same form.
  double timeout_s = 0;  ///< Seconds after which ranks that still run are stopped; 0: no limit.
  double grace_s = 5;    ///< Seconds from SIGTERM to SIGKILL for ranks that are stopped.
  /// Descriptor that stops ranks when it can be read, and kills them when it can a second time; -1:
  /// none.
  int stop_fd = -1;
};

/// How a run of all ranks ended.
struct RunResult {
  std::vector<RankEnd> ranks;
  double seconds = 0;
  /// Why the run did not succeed: the first rank that failed, its node and how, or what stopped the
  /// run. Empty when all ranks ended with exit code 0.
  std::string failure;
};

/// Starts a program as each rank, in order, and waits until all have ended. When one fails, the
/// time is over, or a stop is requested, all ranks get SIGTERM and, after the grace, SIGKILL. All
/// processes that the ranks started have ended, too, when this returns or when the calling process
/// dies. Fails with `kRuntime` when a rank cannot be started.
RunResult run_ranks(std::span<const RankStart> ranks, std::int64_t ranks_per_node,
                    const RunOptions& options);

}  // namespace stepwright::lab
