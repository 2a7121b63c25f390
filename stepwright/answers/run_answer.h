#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "stepwright/answers/memory_reserve.h"
#include "stepwright/tune/tune.h"
#include "stepwright/whole_run/plans_by_run.h"
#include "stepwright/whole_run/simulated_run.h"

namespace stepwright::answers {

/// The most whole training runs that a user can ask to simulate event by event.
inline constexpr std::int64_t kMaxSimulatedTrainingRuns = 100'000;

/// The arguments of the command `run`, which predicts a whole training run with its failures and
/// checkpoints.
struct TrainingRunRequest {
  std::string name;  ///< Name of the plan's or job's file, with which error messages begin.
  /// Settings from the command line that replace those in the `run` section of the job file, by
  /// key.
  std::map<std::string, std::string, std::less<>> settings;
  MemoryHeadroom reserve;
  /// Number of whole runs to simulate event by event; nullopt: none.
  std::optional<std::int64_t> played;
  std::uint64_t seed = 1;    ///< Random seed of the simulated runs.
  tune::TuneOptions search;  ///< Options of the search, if a job is given instead of a plan.
};

/// The result of the command `run`: the whole training run of a plan, or of the best plan of a job.
struct TrainingRunAnswer {
  whole_run::PlanWithTrainingRun best;
  /// Comparison of a job's plans by the time of their whole runs; nullopt: a plan was given.
  std::optional<whole_run::PlanRunComparison> comparison;
  std::optional<whole_run::SimulatedRuns> played;
};

/// Predicts the whole training run of a plan whose pipeline schedule is not `auto`, or of the best
/// plan of a job. Fails with `kInput` if settings contradict each other, if no run would ever end,
/// or if simulated runs would have too many checkpoints.
TrainingRunAnswer predict_whole_run(plan::PlannedJob planned, const TrainingRunRequest& request);
TrainingRunAnswer answer_job_run(plan::Job job, const TrainingRunRequest& request);

/// Returns the JSON document that `run --json` prints (docs/formats.md).
nlohmann::ordered_json whole_run_answer_json(const TrainingRunAnswer& answer);

}  // namespace stepwright::answers
