#pragma once

#include <cstdint>

#include "stepwright/whole_run/run_process.h"

namespace stepwright::whole_run {

/// Distribution of the time that a node is out: exponential around the mean, or always exactly the
/// mean.
enum class RepairTimes : std::uint8_t { kExponential, kFixed };

/// Statistics of runs that were simulated event by event.
struct SimulatedRuns {
  std::int64_t runs = 0;
  RunTime mean;       ///< Mean over the runs; `deviation_s` is their standard deviation.
  double low_s = 0;   ///< A tenth of the runs are shorter than this.
  double high_s = 0;  ///< A tenth of the runs are longer than this.

  /// Returns the standard error of `mean.wall_s`.
  [[nodiscard]] double error_s() const;
};

/// Simulates `runs` runs (at least one): steps, evaluations, checkpoints, failures, restarts and
/// repairs one after the other, with random numbers from the seed. It does not use the closed form,
/// so that it can check it.
SimulatedRuns simulate_runs(const RunProcess& process, std::int64_t runs, std::uint64_t seed,
                            RepairTimes repairs = RepairTimes::kExponential);

}  // namespace stepwright::whole_run
