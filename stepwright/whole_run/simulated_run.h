#pragma once

#include <cstdint>

#include "stepwright/whole_run/run_process.h"

namespace stepwright::whole_run {

/// How long a node is out: around the mean as from a memoryless repair, or exactly so long.
enum class RepairTimes : std::uint8_t { kExponential, kFixed };

/// Runs that were played event by event.
struct SimulatedRuns {
  std::int64_t runs = 0;
  RunTime mean;       ///< `deviation_s` over the runs.
  double low_s = 0;   ///< A tenth of the runs are shorter.
  double high_s = 0;  ///< A tenth of the runs are longer.

  /// Standard error of `mean.wall_s`.
  [[nodiscard]] double error_s() const;
};

/// Plays runs: steps, evaluations, checkpoints, failures, restarts, repairs one after the other, by
/// random numbers that follow from the seed. Knows nothing of the closed form. At least one run.
SimulatedRuns simulate_runs(const RunProcess& process, std::int64_t runs, std::uint64_t seed,
                            RepairTimes repairs = RepairTimes::kExponential);

}  // namespace stepwright::whole_run
