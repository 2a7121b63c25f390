#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/framework_files/launch_file.h"
#include "stepwright/tune/tune.h"

namespace stepwright::explore {

/// Returns the nearest plan that the job's framework can run: `offer` (an offered plan), or `none`
/// with the reason. `reasons`: choices of the plan that the framework cannot run; empty: it runs
/// the plan.
nlohmann::ordered_json nearest_run_json(const plan::PlannedJob& planned);

/// Returns the nearest plan of the job that fits in memory on the same devices: `offer` with
/// `step_time_s` and `peak_memory_bytes`, or `none` with the reason. Searches the job.
nlohmann::ordered_json nearest_fit_json(const plan::PlannedJob& planned,
                                        const tune::TuneOptions& options);

/// Returns the smallest number of nodes of the job's cluster on which a plan of the job fits (fewer
/// or more than it has): `offer` with `step_time_s`, `peak_memory_bytes`, `nodes` and `devices`, or
/// `none` with the reason. Searches several clusters.
nlohmann::ordered_json smallest_cluster_json(const plan::PlannedJob& planned,
                                             const tune::TuneOptions& options);

/// Returns changes that would let a plan fit in memory, the fastest of each kind: `remedies` as in
/// `check --json`, each with the changed plan (an offered plan).
nlohmann::ordered_json remedies_offered_json(const plan::PlannedJob& planned);

/// Returns the answer of `check --json`: whether a job starts and fits, and what would be better.
/// Each of its `gains` and `remedies` also has the changed plan (an offered plan).
nlohmann::ordered_json job_check_answer_json(framework_files::ImportedPlan imported,
                                             const tune::TuneOptions& options);

}  // namespace stepwright::explore
