#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright::answers {

/// Returns the fastest plan with expert parallelism if the search's first plan has none; nullopt:
/// the model has no experts, the first plan already has expert parallelism, or no such plan fits.
std::optional<tune::TunedPlan> best_expert_parallel_plan(const tune::TuneResult& result,
                                                         const tune::TuneOptions& options);

/// Returns a note that few people run a plan like this one, because it shards parameters while the
/// published recipes of its framework shard only optimizer states; empty: this is not the case.
std::string uncommon_sharding_note(const plan::Job& job, const plan::Plan& plan);

}  // namespace stepwright::answers
