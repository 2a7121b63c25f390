#pragma once

#include <optional>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Searches the best plans for the job of a given plan, on all devices of the job, among plans that
/// its framework runs. nullopt: no such plan is legal.
std::optional<TuneResult> search_best_plans_for_job_of(const plan::PlannedJob& planned,
                                                       const TuneOptions& options = {});

/// Returns a plan that fits in memory and is near a given plan that does not: the given plan with
/// the first change towards the best plan of its job (`compare_user_plan`), on all devices, within
/// what its framework runs. nullopt: no plan of the job fits. Fails if the plan is not legal in its
/// job.
std::optional<plan::Plan> nearest_fitting_plan(const plan::PlannedJob& planned,
                                               const TuneOptions& options = {});

}  // namespace stepwright::tune
