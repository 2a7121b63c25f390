#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// How long a person wants to train, and what the devices cost.
struct TrainingRun {
  double tokens = 0;                         ///< Tokens of the run, above 0.
  std::optional<double> price_per_gpu_hour;  ///< Price in any currency; nullopt: unknown.
};

/// The cost of a whole training run; counts its steps only, no restarts, checkpoints or evaluation.
struct RunCost {
  double days = 0;
  double gpu_hours = 0;  ///< Device hours of the run, including those of idle devices.
  std::optional<double> cost;
};

/// Returns the cost of a run. `devices_idle`: devices that are paid for in addition to those of the
/// job's cluster.
RunCost run_cost(const plan::Job& job, double step_time_s, std::int64_t devices_idle,
                 const TrainingRun& run);

/// Adds `days`, `gpu_hours` and, with a price, `cost` to an answer that has a `step_time_s`.
void add_run_cost(nlohmann::ordered_json& answer, const plan::Job& job, std::int64_t devices_idle,
                  const TrainingRun& run);

}  // namespace stepwright::tune
