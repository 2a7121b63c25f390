#pragma once

#include <cstdint>

#include "stepwright/whole_run/run_process.h"

namespace stepwright::whole_run {

/// Distribution of repair times of nodes: exponential around the mean, or always exactly the mean.
enum class RepairTimeDistribution : std::uint8_t { kExponential, kFixed };

/// Statistics of whole training runs that were simulated event by event.
struct SimulatedRuns {
  std::int64_t runs = 0;
  /// Mean times of the simulated training runs; its `deviation_s` is the standard deviation between
  /// the runs.
  TrainingRunTime mean;
  double low_s = 0;   ///< Wall-clock seconds that a tenth of the runs stay below.
  double high_s = 0;  ///< Wall-clock seconds that a tenth of the runs exceed.

  /// Returns the standard error of the mean wall-clock time `mean.wall_s`, in seconds.
  [[nodiscard]] double mean_wall_time_error_s() const;
};

/// Simulates whole training runs (at least one) event by event: steps, evaluations, checkpoints,
/// failures, restarts and repairs, with random numbers from the seed. Independent of the
/// closed-form formulas, to check them.
SimulatedRuns simulate_whole_runs(
    const TrainingRunParameters& process, std::int64_t runs, std::uint64_t seed,
    RepairTimeDistribution repairs = RepairTimeDistribution::kExponential);

}  // namespace stepwright::whole_run
