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

/// The most whole runs that may be simulated event by event.
inline constexpr std::int64_t kMaxSimulatedRuns = 100'000;

/// The arguments of `run`, which predicts a whole training run.
struct WholeRunRequest {
  std::string name;  ///< Name of the plan's or job's file, which begins errors about it.
  /// Values that replace keys of the job's `run` (`read_run_settings`).
  std::map<std::string, std::string, std::less<>> settings;
  MemoryHeadroom reserve;
  /// Number of runs to simulate event by event; nullopt: none.
  std::optional<std::int64_t> played;
  std::uint64_t seed = 1;    ///< Random seed of the simulated runs.
  tune::TuneOptions search;  ///< Options of the search of a job's plans.
};

/// The result of `run`: the whole training run of a plan, or of the best plan of a job.
struct WholeRunAnswer {
  whole_run::RunCandidate best;
  /// Comparison of a job's plans by their whole runs; nullopt: a plan was given.
  std::optional<whole_run::PlansByRun> comparison;
  std::optional<whole_run::SimulatedRuns> played;
};

/// Predicts the whole run of a plan (or of the best plan of a job). The plan's schedule must not be
/// `auto` (`with_resolved_schedule`). Fails with `kInput` if settings contradict each other, if no
/// run would ever end, or if runs to simulate have too many checkpoints.
WholeRunAnswer predict_whole_run(plan::PlannedJob planned, const WholeRunRequest& request);
WholeRunAnswer answer_job_run(plan::Job job, const WholeRunRequest& request);

/// Returns the document of `run --json` (docs/formats.md).
nlohmann::ordered_json whole_run_answer_json(const WholeRunAnswer& answer);

}  // namespace stepwright::answers
