#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// Length of a training run in tokens, and the price of device hours.
struct TrainingLengthAndPrice {
  /// Number of tokens to train on in the whole run; above 0.
  double tokens = 0;
  /// Price of one GPU-hour in any currency; nullopt: unknown.
  std::optional<double> price_per_gpu_hour;
};

/// The time and money that a whole training run takes; counts training steps only, no restarts,
/// checkpoints or evaluation.
struct TrainingRunCost {
  double days = 0;
  /// Device hours of the run (devices times hours), including those of idle devices.
  double gpu_hours = 0;
  std::optional<double> cost;
};

/// Returns the time and money that a training run takes. `devices_idle`: devices that are paid for
/// in addition to those of the job's cluster.
TrainingRunCost training_run_cost(const plan::Job& job, double step_time_s,
                                  std::int64_t devices_idle, const TrainingLengthAndPrice& run);

/// Adds the cost of a training run (`days`, `gpu_hours` and, if a price is known, `cost`) to a JSON
/// answer that has a `step_time_s`.
void add_training_run_cost_json(nlohmann::ordered_json& answer, const plan::Job& job,
                                std::int64_t devices_idle, const TrainingLengthAndPrice& run);

}  // namespace stepwright::tune
