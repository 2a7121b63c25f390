#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns the plan's sharding in its canonical spelling: a state sharded inside groups of one rank
/// (I) becomes replicated (N), and one sharded inside a group of all data x context ranks (I)
/// becomes fully sharded (G).
Sharding canonical_sharding(const Job& job, const Plan& plan);

/// Returns the plan with its sharding in canonical spelling and all other choices unchanged. Steps
/// are built and priced from this plan, so that groups of one rank have no messages.
Plan with_canonical_sharding(const Job& job, Plan plan);

/// Returns the modules of `listed` whose activations some layer keeps for its backward under this
/// recomputation, so that offloading them has an effect.
OffloadModuleSet effective_offload_modules(OffloadModuleSet listed,
                                           const ActivationRecomputation& recompute);

/// Returns the number of pipeline ranks over which embedding and head tables are split; 1 if only
/// the first and the last pipeline rank hold them.
std::int64_t vocabulary_table_pipeline_ranks(const Plan& plan);

}  // namespace stepwright::plan
