#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "stepwright/answers/memory_reserve.h"
#include "stepwright/phases/pools.h"

namespace stepwright::answers {

/// The arguments of the command `stepwright phases`, which predicts steps with several phases (such
/// as generation and training in reinforcement learning).
struct StepPhasesRequest {
  std::string name;  ///< Name of the job's file, with which error messages about the job begin.
  MemoryHeadroom reserve;
  int threads = 0;  ///< Threads of the search for the best split; 0: one per processor.
  tune::SearchProgressCallback
      progress;  ///< Callback that receives the search's progress; empty: none.
};

/// The result of the command `phases`: the phases of a step of a given plan, or of the best split
/// of a job's devices between phases.
struct StepPhasesAnswer {
  phases::PhasedStep step;
  /// Results for all splits of the devices between the phases; nullopt: a plan was given instead of
  /// a job.
  std::optional<phases::DevicePoolSplits> splits;
};

/// Predicts the phases of a step of a plan. The plan's pipeline schedule must not be `auto`.
StepPhasesAnswer predict_step_phases(plan::PlannedJob planned, const StepPhasesRequest& request);

/// Finds the split of a job's devices between the phases that gives the fastest step. Fails with
/// `kInput` if the split that the job states has no legal plan, or with `kRuntime` if no plan fits.
StepPhasesAnswer find_best_device_split(plan::Job job, const StepPhasesRequest& request);

/// Returns the JSON document that `phases --json` prints (docs/formats.md).
nlohmann::ordered_json step_phases_answer_json(const StepPhasesAnswer& answer);

}  // namespace stepwright::answers
