#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The sharding that a plan's comes to, as in `canonical`: a group of one rank holds what N holds,
/// a group of all ranks what G holds.
Sharding canonical_sharding(const Job& job, const Plan& plan);

/// A plan with that sharding and else as it is: what programs and prices are made of, so that
/// groups of one rank have neither messages nor moments of their own.
Plan with_canonical_sharding(const Job& job, Plan plan);

/// Returns the offloaded modules of which some layer keeps something.
OffloadModules kept_modules(OffloadModules listed, const Recompute& recompute);

/// Pipeline positions of which each has a part of the vocabulary's tables; 1 where the ends of the
/// model have them.
std::int64_t vocabulary_positions(const Plan& plan);

}  // namespace stepwright::plan
