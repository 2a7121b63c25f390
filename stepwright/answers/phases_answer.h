#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "stepwright/answers/memory_reserve.h"
#include "stepwright/phases/pools.h"

namespace stepwright::answers {

/// The options of an answer about the phases of a step.
struct PhasesRequest {
  std::string name;  ///< Name of the job's file: errors about the job begin with it.
  MemoryReserve reserve;
  int threads = 0;              ///< Threads of a job's search; 0: one per processor.
  tune::TellProgress progress;  ///< Listener for progress; may be empty.
};

/// The phases of a step of a plan, or of the best split of a job's devices.
struct PhasesAnswer {
  phases::PhasedStep step;
  std::optional<phases::PoolSplits> splits;  ///< Splits of a job's devices; nullopt for a plan.
};

/// Says how long the phases of a step of a plan take. The plan is settled.
PhasesAnswer answer_plan_phases(plan::PlannedJob planned, const PhasesRequest& request);

/// Finds the best split of a job's devices. Fails as `best_splits`.
PhasesAnswer answer_job_phases(plan::Job job, const PhasesRequest& request);

/// The document of `phases --json` (docs/formats.md).
nlohmann::ordered_json phases_answer_json(const PhasesAnswer& answer);

}  // namespace stepwright::answers
