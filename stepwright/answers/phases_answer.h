#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "stepwright/answers/memory_reserve.h"
#include "stepwright/phases/pools.h"

namespace stepwright::answers {

/// The arguments of the command `stepwright phases`.
struct PhasesRequest {
  std::string name;  ///< Name of the job's file, which begins errors about the job.
  MemoryReserve reserve;
  int threads = 0;              ///< Threads of a search; 0: one per processor.
  tune::TellProgress progress;  ///< Receiver of the search's progress; empty: none.
};

/// The result of `phases`: the phases of a step of a plan, or of the best split of a job's devices.
struct PhasesAnswer {
  phases::PhasedStep step;
  /// All splits of a job's devices; nullopt: a plan was given.
  std::optional<phases::PoolSplits> splits;
};

/// Predicts the phases of a step of a plan, whose schedule must not be `auto` (`settled_plan`).
PhasesAnswer answer_plan_phases(plan::PlannedJob planned, const PhasesRequest& request);

/// Finds the best split of a job's devices between the phases. Fails as `best_splits`.
PhasesAnswer answer_job_phases(plan::Job job, const PhasesRequest& request);

/// Returns the document of `phases --json` (docs/formats.md).
nlohmann::ordered_json phases_answer_json(const PhasesAnswer& answer);

}  // namespace stepwright::answers
