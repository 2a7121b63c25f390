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

/// Devices of a job's cluster that the plan does not use; they are paid for, and whole nodes can
/// serve as spares.
struct IdleDevices {
  std::int64_t devices = 0;
  /// Number of whole nodes among the idle devices; they can replace nodes that fail.
  std::int64_t nodes = 0;
};

/// The prediction of a whole training run: mean values, and intervals that contain the value with a
/// probability of 80 %.
struct TrainingRunPrediction {
  double tokens = 0;
  std::int64_t devices = 0;  ///< Number of devices that are paid for: in use, idle and spare.
  std::optional<double> price_per_gpu_hour;
  TrainingRunParameters process;
  TrainingRunTime time;
  CheckpointSize checkpoint;
  /// Checkpoint interval that makes the training run shortest, in steps.
  std::int64_t best_every = 0;
  /// Number of spare nodes with which the run costs the fewest GPU-hours; nullopt: repairs take no
  /// time, so spares have no use.
  std::optional<std::int64_t> best_spare_nodes;
  /// Lower end, in seconds, of the interval up to `high_s` that contains the wall-clock time with a
  /// probability of 80 %; it covers the uncertainty of the step time, chance and assumptions.
  double low_s = 0;
  double high_s = 0;
  /// Lower end of the interval up to `useful_high` that contains `useful_training_time_share` with
  /// a probability of 80 %; it covers chance and assumptions.
  double useful_low = 0;
  double useful_high = 0;
  /// Sentences for the user about values that were assumed, each with its source.
  std::vector<std::string> assumed;

  /// Returns the seconds of all training steps as predicted, without any losses.
  [[nodiscard]] double all_training_steps_s() const {
    return process.step_s * static_cast<double>(process.steps);
  }
  /// Returns the share of the whole run's time during which training steps run as predicted.
  [[nodiscard]] double useful_training_time_share() const {
    return all_training_steps_s() / time.wall_s;
  }
  /// Returns the seconds of training between two checkpoints that are `every` steps apart, without
  /// the time of the checkpoint itself.
  [[nodiscard]] double training_between_checkpoints_s(std::int64_t every) const;
  /// Returns the GPU-hours of a run that takes `seconds` seconds; `cost`: their price, nullopt if
  /// no price is given.
  [[nodiscard]] double gpu_hours(double seconds) const;
  [[nodiscard]] std::optional<double> cost(double seconds) const;
};

/// Returns the number of tokens of a whole training run. Fails with `kInput` if it is not stated.
double whole_run_tokens(const plan::TrainingRunSettings& settings);

/// Predicts the whole training run of a plan under the given settings, by closed-form formulas
/// (docs/whole_runs.md). `idle`: devices that the plan leaves unused. Fails with `kInput` if no
/// number of tokens is stated, or if failures come so fast that no run would end.
TrainingRunPrediction predict_training_run(const simulate::PlanPrediction& prediction,
                                           const plan::TrainingRunSettings& settings,
                                           const IdleDevices& idle = {});

/// Returns the JSON document that `stepwright run --json` prints (docs/formats.md, "Whole run").
nlohmann::ordered_json whole_run_json(const TrainingRunPrediction& run);
/// Returns a summary of a whole training run as JSON: its duration, GPU-hours and cost, also at
/// both ends of the 80 % interval (`low`, `high`) and for its training steps alone (`steps_alone`).
nlohmann::ordered_json run_summary_json(const TrainingRunPrediction& run);
/// Returns the JSON value of the key `simulated` in the answer of `run`: statistics of the
/// simulated runs.
nlohmann::ordered_json simulated_runs_json(const SimulatedRuns& runs);

}  // namespace stepwright::whole_run
