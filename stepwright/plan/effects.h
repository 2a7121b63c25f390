#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

// Conditions on which other choices of a plan depend: without them these change nothing.

/// True if any gradient is reduced over ranks.
inline bool replicates(const Job& job, const Parallel& degrees) {
  return degrees.context * degrees.data > 1 || (job.model.experts && degrees.expert_data() > 1);
}

/// True if experts of a layer lie on several ranks, so that tokens are sent to them.
inline bool routes(const Parallel& degrees) { return degrees.expert * degrees.expert_tensor > 1; }

/// True if ranks gather parameters: before each use, or what each has updated.
inline bool gathers_parameters(const Sharding& sharding) {
  return sharding.parameters != Spread::kNone || sharding.optimizer != Spread::kNone;
}

}  // namespace stepwright::plan
