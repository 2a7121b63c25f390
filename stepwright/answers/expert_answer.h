#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright::answers {

/// Returns the fastest plan that has expert parallelism, to be shown beside a best plan without it;
/// nullopt: the model has no experts, the best plan already has expert parallelism, or no such plan
/// fits.
std::optional<tune::TunedPlan> best_expert_parallel_plan(const tune::TuneResult& result,
                                                         const tune::TuneOptions& options);

/// Returns a note that plans like this one are uncommon, because it shards parameters while the
/// published recipes of its framework shard only optimizer states; empty: the plan is common.
std::string uncommon_sharding_note(const plan::Job& job, const plan::Plan& plan);

}  // namespace stepwright::answers
