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

/// The most runs that are played event by event.
inline constexpr std::int64_t kMostPlayedRuns = 100'000;

/// The options of an answer about a whole run.
struct RunRequest {
  std::string name;  ///< Name of the plan's or job's file: errors about it begin with it.
  /// Replaces keys of the job's `run` (`read_run_settings`).
  std::map<std::string, std::string, std::less<>> settings;
  MemoryReserve reserve;
  std::optional<std::int64_t> played;  ///< Runs to play; nullopt: none.
  std::uint64_t seed = 1;              ///< Seed of the random numbers of played runs.
  tune::TuneOptions search;            ///< Options of a job's search.
};

/// The whole run of a plan, or of the best plan of a job.
struct RunAnswer {
  whole_run::RunCandidate best;
  /// Comparison of a job's plans; nullopt for a plan.
  std::optional<whole_run::PlansByRun> comparison;
  std::optional<whole_run::SimulatedRuns> played;
};

/// Says how long the whole run of a plan, or of the best plan of a job, takes. The plan is settled.
/// Fails with `kInput` where settings contradict each other, no run would end, or runs to play have
/// too many checkpoints.
RunAnswer answer_plan_run(plan::PlannedJob planned, const RunRequest& request);
RunAnswer answer_job_run(plan::Job job, const RunRequest& request);

/// The document of `run --json` (docs/formats.md).
nlohmann::ordered_json run_answer_json(const RunAnswer& answer);

}  // namespace stepwright::answers
