#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "stepwright/answers/memory_reserve.h"
#include "stepwright/phases/pools.h"

namespace stepwright::answers {

/// The arguments of the command `stepwright phases`.
struct StepPhasesRequest {
  std::string name;  ///< Name of the job's file, which begins errors about the job.
  MemoryHeadroom reserve;
  int threads = 0;              ///< Threads of a search; 0: one per processor.
  tune::TellProgress progress;  ///< Receiver of the search's progress; empty: none.
};

/// The result of `phases`: the phases of a step of a plan, or of the best split of a job's devices.
struct StepPhasesAnswer {
  phases::PhasedStep step;
  /// All splits of a job's devices; nullopt: a plan was given.
  std::optional<phases::PoolSplits> splits;
};

/// Predicts the phases of a step of a plan, whose schedule must not be `auto`
/// (`with_resolved_schedule`).
StepPhasesAnswer predict_step_phases(plan::PlannedJob planned, const StepPhasesRequest& request);

/// Finds the best split of a job's devices between the phases. Fails as `best_splits`.
StepPhasesAnswer find_best_device_split(plan::Job job, const StepPhasesRequest& request);

/// Returns the document of `phases --json` (docs/formats.md).
nlohmann::ordered_json step_phases_answer_json(const StepPhasesAnswer& answer);

}  // namespace stepwright::answers
