#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright::answers {

/// The best plan with expert parallelism, of a mixture whose first plan has none; nullopt: it is no
/// mixture, the first plan has it, or none was found that fits.
std::optional<tune::TunedPlan> best_with_experts(const tune::TuneResult& result,
                                                 const tune::TuneOptions& options);

/// Says that few people run a plan: one that shards parameters where the published recipes of its
/// framework shard optimizer states alone. Empty: no recipe says so.
std::string rare_stack_note(const plan::Job& job, const plan::Plan& plan);

}  // namespace stepwright::answers
