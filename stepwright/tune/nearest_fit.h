#pragma once

#include <optional>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The search of a plan's job on all of its devices, as its framework runs it. nullopt: no plan of
/// the job is legal there.
std::optional<TuneResult> search_of_job(const plan::PlannedJob& planned,
                                        const TuneOptions& options = {});

/// The plan that fits and is nearest to one that does not: the first change on the way to the best
/// plan of its job (`against`), on all devices and as its framework runs it. nullopt: no plan of
/// the job fits there. Fails when the plan is not a legal one of its job.
std::optional<plan::Plan> nearest_fit(const plan::PlannedJob& planned,
                                      const TuneOptions& options = {});

}  // namespace stepwright::tune
