#pragma once

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The best plan on the job's cluster as it is, `seconds` not set.
TuneOutcome tune_on_cluster(const plan::Job& job, const TuneOptions& options);

/// The best plan on the job's cluster as it is, where one that fits may take `most_s` or less;
/// `NoPlan` where none fits, or bounds prove that all take longer. Its step time may be longer.
TuneOutcome tune_if_within(const plan::Job& job, double most_s, const TuneOptions& options);

/// Plans of the job's cluster as it is that take less than `below_s`, best first; all fit.
std::vector<TunedPlan> faster_on_cluster(const plan::Job& job, double below_s,
                                         const TuneOptions& options);

/// The fewest nodes on which the job meets the target of its objective; the job's own number of
/// nodes, with the target marked as missed, when it is not met there either. `NoPlan` when no plan
/// is legal on the job's own number of nodes.
TuneOutcome tune_smallest_cluster(const plan::Job& job, const TuneOptions& options);

}  // namespace stepwright::tune
