#pragma once

#include <optional>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Searches the job of a plan on all of its devices, with the plans that its framework runs.
/// nullopt: no plan of the job is legal there.
std::optional<TuneResult> search_of_job(const plan::PlannedJob& planned,
                                        const TuneOptions& options = {});

/// Returns the plan that fits and is nearest to one that does not fit: the first change on the way
/// to the best plan of its job (`compare_user_plan`), on all devices, among plans that its
/// framework runs. nullopt: no plan of the job fits. Fails when the plan is not legal in its job.
std::optional<plan::Plan> nearest_fit(const plan::PlannedJob& planned,
                                      const TuneOptions& options = {});

}  // namespace stepwright::tune
