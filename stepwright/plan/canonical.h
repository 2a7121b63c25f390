#pragma once

#include "stepwright/plan/job.h"

namespace stepwright {

/// The sharding that a plan's comes to, as in `canonical`: a group of one rank holds what N holds,
/// a group of all ranks what G holds.
Sharding canonical_sharding(const Job& job, Plan plan);

}  // namespace stepwright
