#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns the canonical sharding of a plan, as in `canonical`: I over groups of one rank becomes
/// N, I over one group of all ranks becomes G.
Sharding canonical_sharding(const Job& job, const Plan& plan);

/// Returns the plan with its canonical sharding and all other choices unchanged. Programs and
/// prices are made from this plan, so that groups of one rank have no messages.
Plan with_canonical_sharding(const Job& job, Plan plan);

/// Returns the modules of `listed` that keep activations in some layer under this recomputation.
OffloadModules kept_modules(OffloadModules listed, const Recompute& recompute);

/// Number of pipeline positions over which the vocabulary tables are split; 1 if only the positions
/// at the ends of the model hold them.
std::int64_t vocabulary_positions(const Plan& plan);

}  // namespace stepwright::plan
