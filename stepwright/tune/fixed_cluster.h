#pragma once

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Finds the best plan on the job's cluster as it is; `seconds` of the result is not set.
TuneOutcome tune_on_cluster(const plan::Job& job, const TuneOptions& options);

/// Finds the best plan on the job's cluster as it is, if one that fits may take `most_s` or less;
/// its step time may still be longer. `EmptySpaceReason` where no plan fits, or bounds prove that
/// all take longer.
TuneOutcome tune_if_within(const plan::Job& job, double most_s, const TuneOptions& options);

/// Returns plans on the job's cluster as it is that take less than `below_s`, best first; all fit.
std::vector<TunedPlan> faster_on_cluster(const plan::Job& job, double below_s,
                                         const TuneOptions& options);

/// Finds the fewest nodes on which the job meets the target of its objective. If not even the job's
/// own number of nodes meets it, returns the plan for that number, with the target marked as
/// missed. `EmptySpaceReason` when no plan is legal on the job's own number of nodes.
TuneOutcome tune_smallest_cluster(const plan::Job& job, const TuneOptions& options);

}  // namespace stepwright::tune
