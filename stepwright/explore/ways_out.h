#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/framework_files/launch_file.h"
#include "stepwright/tune/tune.h"

namespace stepwright::explore {

/// Returns the nearest plan that the job's framework can run, as JSON: `offer` (the plan), or
/// `none` (the reason why there is none). `reasons`: choices of the current plan that the framework
/// cannot run; empty: it runs the plan.
nlohmann::ordered_json nearest_runnable_plan_json(const plan::PlannedJob& planned);

/// Searches for the plan nearest to the current one that fits in memory on the same devices.
/// Returns JSON: `offer` (the plan, with `step_time_s` and `peak_memory_bytes`), or `none` (the
/// reason).
nlohmann::ordered_json nearest_fitting_plan_json(const plan::PlannedJob& planned,
                                                 const tune::TuneOptions& options);

/// Searches for the smallest number of nodes of the job's cluster on which some plan of the job
/// fits. Returns JSON: `offer` (the plan, with `step_time_s`, `peak_memory_bytes`, `nodes`,
/// `devices`), or `none` (the reason).
nlohmann::ordered_json smallest_fitting_cluster_json(const plan::PlannedJob& planned,
                                                     const tune::TuneOptions& options);

/// Returns changes that would let a plan fit in memory, the fastest of each kind, as JSON:
/// `remedies` as in `check --json`, each with the whole changed plan.
nlohmann::ordered_json explorer_memory_remedies_json(const plan::PlannedJob& planned);

/// Returns the JSON document of `check --json` (whether a job starts and fits, and what would be
/// better), with the whole changed plan added to each of its `gains` and `remedies`.
nlohmann::ordered_json job_check_answer_json(framework_files::ImportedPlan imported,
                                             const tune::TuneOptions& options);

}  // namespace stepwright::explore
