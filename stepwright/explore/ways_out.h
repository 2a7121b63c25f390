#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/framework_files/launch_file.h"
#include "stepwright/tune/tune.h"

namespace stepwright::explore {

/// The nearest plan that the job's framework runs: `offer` (an offered plan), or `none` with the
/// reason; `reasons` are what it does not run, empty where it runs the plan.
nlohmann::ordered_json nearest_run_json(const plan::PlannedJob& planned);

/// The nearest plan of the job that fits in memory, on the same devices: `offer` with `step_time_s`
/// and `peak_memory_bytes`, or `none` with the reason. Searches the job.
nlohmann::ordered_json nearest_fit_json(const plan::PlannedJob& planned,
                                        const tune::TuneOptions& options);

/// The fewest nodes of the job's cluster, fewer or more than it has, on which a plan of the job
/// fits: `offer` as above with `nodes` and `devices`, or `none` with the reason. Searches several
/// clusters.
nlohmann::ordered_json smallest_cluster_json(const plan::PlannedJob& planned,
                                             const tune::TuneOptions& options);

/// Changes that let a plan fit, of each kind the fastest: `remedies` as in `check --json`, each
/// with the plan that it makes (an offered plan).
nlohmann::ordered_json remedies_offered_json(const plan::PlannedJob& planned);

/// The answer of `check --json`: whether a job starts and fits, and what would be better. Each of
/// its `gains` and `remedies` is an offered plan, too.
nlohmann::ordered_json checked_json(framework_files::ImportedPlan imported,
                                    const tune::TuneOptions& options);

}  // namespace stepwright::explore
