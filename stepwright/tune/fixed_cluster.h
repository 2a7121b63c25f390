#pragma once

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Finds the best plan on exactly the job's cluster, without trying fewer devices. Does not set
/// `seconds` of the result.
TuneOutcome tune_on_cluster(const plan::Job& job, const TuneOptions& options);

/// Finds the best plan on exactly the job's cluster if a plan that fits may take `most_s` seconds
/// or less per step (the step time found may still be longer). `EmptySearchSpaceReason` if no plan
/// fits, or if bounds prove that all take longer.
TuneOutcome tune_on_cluster_within_step_time(const plan::Job& job, double most_s,
                                             const TuneOptions& options);

/// Returns the plans on exactly the job's cluster that fit and take less than `below_s` seconds per
/// step, best first.
std::vector<TunedPlan> faster_plans_on_cluster(const plan::Job& job, double below_s,
                                               const TuneOptions& options);

/// Finds the fewest nodes on which a plan meets the target of the job's objective. If even all
/// nodes of the job miss the target, returns the plan for all nodes, marked as missing it.
/// `EmptySearchSpaceReason` if no plan is legal on all nodes.
TuneOutcome tune_smallest_cluster(const plan::Job& job, const TuneOptions& options);

}  // namespace stepwright::tune
