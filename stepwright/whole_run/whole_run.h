#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/whole_run/checkpoint_size.h"
#include "stepwright/whole_run/conditions.h"
#include "stepwright/whole_run/run_process.h"
#include "stepwright/whole_run/simulated_run.h"

namespace stepwright::whole_run {

/// Devices of a cluster beside those of a plan.
struct IdleDevices {
  std::int64_t devices = 0;
  std::int64_t nodes = 0;  ///< Whole nodes of them: they stand in for nodes that fail.
};

/// A whole run in the mean, and where it lies four times of five.
struct WholeRun {
  double tokens = 0;
  std::int64_t devices = 0;  ///< Devices that are paid: in use, idle and spare.
  std::optional<double> price_per_gpu_hour;
  RunProcess process;
  RunTime time;
  CheckpointSize checkpoint;
  std::int64_t best_every = 0;  ///< Steps between checkpoints that are best.
  /// Spare nodes with which the run takes the fewest GPU-hours, where repairs take time.
  std::optional<std::int64_t> best_spare_nodes;
  double low_s = 0;  ///< Range of `time.wall_s`: by steps, chance and assumptions.
  double high_s = 0;
  double useful_low = 0;  ///< Range of `useful_share`: by chance and assumptions.
  double useful_high = 0;
  std::vector<std::string> assumed;  ///< Assumptions, as in `RunConditions`.

  /// Steps alone, as predicted.
  [[nodiscard]] double steps_s() const {
    return process.step_s * static_cast<double>(process.steps);
  }
  /// Share of the whole time in which steps run.
  [[nodiscard]] double useful_share() const { return steps_s() / time.wall_s; }
  /// Seconds of a run from a checkpoint to the next, without what a checkpoint takes.
  [[nodiscard]] double interval_s(std::int64_t every) const;
  /// Device-hours, and their cost, of a run of so many seconds.
  [[nodiscard]] double gpu_hours(double seconds) const;
  [[nodiscard]] std::optional<double> cost(double seconds) const;
};

/// The tokens that a person wants to train on. Fails with `kInput` where they are not stated.
double tokens_of(const plan::RunSettings& settings);

/// The whole run of a plan under what a person states of it (docs/whole_runs.md), in closed form.
/// Fails with `kInput` without tokens, and where failures come so fast that no run would end.
WholeRun whole_run(const simulate::Prediction& prediction, const plan::RunSettings& settings,
                   const IdleDevices& idle = {});

/// The answer of `stepwright run --json` (docs/formats.md, "Whole run").
nlohmann::ordered_json whole_run_json(const WholeRun& run);
/// The part of the answer that says how long the run takes and what it costs: with `low`, `high`
/// and `steps_alone`.
nlohmann::ordered_json run_summary_json(const WholeRun& run);
/// Writes the simulated runs (`simulated` of the answer).
nlohmann::ordered_json simulated_json(const SimulatedRuns& runs);

}  // namespace stepwright::whole_run
