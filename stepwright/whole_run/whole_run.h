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

/// Devices of a cluster that a plan does not use.
struct IdleDevices {
  std::int64_t devices = 0;
  /// Whole nodes among the idle devices; they serve as spares for nodes that fail.
  std::int64_t nodes = 0;
};

/// A whole training run: means, and intervals that contain the value with a probability of 80 %.
struct WholeRun {
  double tokens = 0;
  std::int64_t devices = 0;  ///< Number of devices that are paid: in use, idle and spare.
  std::optional<double> price_per_gpu_hour;
  RunProcess process;
  RunTime time;
  CheckpointSize checkpoint;
  /// Number of steps between checkpoints that makes the run shortest.
  std::int64_t best_every = 0;
  /// Number of spare nodes with which the run takes the fewest GPU-hours; nullopt: repairs take no
  /// time.
  std::optional<std::int64_t> best_spare_nodes;
  /// Range of `time.wall_s`, from the uncertainty of the step, chance and assumptions.
  double low_s = 0;
  double high_s = 0;
  double useful_low = 0;  ///< Range of `useful_share`, from chance and assumptions.
  double useful_high = 0;
  std::vector<std::string> assumed;  ///< Assumptions, as in `RunConditions`.

  /// Returns the seconds of all steps as predicted, without losses.
  [[nodiscard]] double steps_s() const {
    return process.step_s * static_cast<double>(process.steps);
  }
  /// Returns the share of the whole time during which steps run as predicted.
  [[nodiscard]] double useful_share() const { return steps_s() / time.wall_s; }
  /// Returns the seconds of the run between two checkpoints that are `every` steps apart, without
  /// the checkpoint's own time.
  [[nodiscard]] double interval_s(std::int64_t every) const;
  /// Returns the device-hours (or their cost) of a run that takes so many seconds.
  [[nodiscard]] double gpu_hours(double seconds) const;
  [[nodiscard]] std::optional<double> cost(double seconds) const;
};

/// Returns the number of tokens to train on. Fails with `kInput` if it is not stated.
double tokens_of(const plan::RunSettings& settings);

/// Predicts the whole run of a plan under the given settings (docs/whole_runs.md), in closed form.
/// Fails with `kInput` without a number of tokens, and if failures come so fast that no run would
/// end.
WholeRun whole_run(const simulate::Prediction& prediction, const plan::RunSettings& settings,
                   const IdleDevices& idle = {});

/// Returns the answer of `stepwright run --json` (docs/formats.md, "Whole run").
nlohmann::ordered_json whole_run_json(const WholeRun& run);
/// Returns the part of `whole_run_json` about duration and cost, with `low`, `high` and
/// `steps_alone`.
nlohmann::ordered_json run_summary_json(const WholeRun& run);
/// Returns the member `simulated` of the answer: the statistics of simulated runs.
nlohmann::ordered_json simulated_json(const SimulatedRuns& runs);

}  // namespace stepwright::whole_run
