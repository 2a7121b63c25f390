#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "stepwright/lab/running_rank.h"

namespace stepwright::lab {

/// Options for running the programs of all ranks of an emulated cluster.
struct RankRunOptions {
  std::ostream& out;  ///< Stream for the ranks' standard output, each line after `[RANK] `.
  std::ostream& err;  ///< Stream for the ranks' standard error, each line after `[RANK] `.
  /// Seconds after which ranks that are still running are stopped; 0: no limit.
  double timeout_s = 0;
  double grace_s = 5;  ///< Seconds between SIGTERM and SIGKILL when ranks are stopped.
  /// File descriptor that requests a stop: when it first becomes readable, the ranks get SIGTERM;
  /// when it does again, SIGKILL; -1: none.
  int stop_fd = -1;
};

/// The result of running the programs of all ranks: how each ended, and why the run failed.
struct RankRunResult {
  std::vector<RankProgramEnd> ranks;
  double seconds = 0;
  /// Reason why the run failed: the first rank that failed, its node and its exit code or signal,
  /// or what stopped the run. Empty: all ranks ended with exit code 0.
  std::string failure;
};

/// Starts a program for each rank and waits until all have ended. If one fails, time runs out or a
/// stop is requested, all ranks get SIGTERM and, after `grace_s`, SIGKILL. No process that the
/// ranks started outlives this call or this process. Fails with `kRuntime` if a rank cannot be
/// started.
RankRunResult run_rank_programs(std::span<const RankProgramStart> ranks,
                                std::int64_t ranks_per_node, const RankRunOptions& options);

}  // namespace stepwright::lab
