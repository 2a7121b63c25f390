#pragma once

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The best plan on the job's cluster as it is, `seconds` not set.
TuneOutcome tune_on_cluster(const plan::Job& job, const TuneOptions& options);

/// Plans of the job's cluster as it is that take less than `below_s`, best first; all fit.
std::vector<TunedPlan> faster_on_cluster(const plan::Job& job, double below_s,
                                         const TuneOptions& options);

/// The fewest nodes on which the job meets the target of its objective; the job's own number of
/// nodes, with the target marked as missed, when it is not met there either. `NoPlan` when no plan
/// is legal on the job's own number of nodes.
TuneOutcome tune_smallest_cluster(const plan::Job& job, const TuneOptions& options);

}  // namespace stepwright::tune
