#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns a plan's sharding of model states in canonical form, so that equivalent plans compare
/// equal: sharding inside groups of one rank (I) becomes no sharding (N), and inside a group of all
/// data x context ranks full sharding (G).
Sharding canonical_sharding(const Job& job, const Plan& plan);

/// Returns the plan with its sharding in canonical form (`canonical_sharding`) and all other
/// choices unchanged. Steps are built and priced from this plan, so that groups of one rank have no
/// messages.
Plan with_canonical_sharding(const Job& job, Plan plan);

/// Returns those kinds of activations in `listed` that some layer keeps for its backward under this
/// recomputation; offloading any other kind to host memory has no effect.
OffloadModuleSet effective_offload_modules(OffloadModuleSet listed,
                                           const ActivationRecomputation& recompute);

/// Returns the number of pipeline ranks over which embedding and head tables are split; 1 if only
/// the first and the last pipeline rank hold them.
std::int64_t vocabulary_table_pipeline_ranks(const Plan& plan);

}  // namespace stepwright::plan
