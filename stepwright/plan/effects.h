#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

// Conditions without which other choices of a plan change nothing.

/// True if ranks must reduce gradients: several ranks hold the same parameters or the same experts.
inline bool reduces_gradients(const Job& job, const Parallel& degrees) {
  return degrees.context * degrees.data > 1 || (job.model.experts && degrees.expert_data() > 1);
}

/// True if a layer's experts are spread over several ranks, so that tokens are sent to them.
inline bool routes(const Parallel& degrees) { return degrees.expert * degrees.expert_tensor > 1; }

/// True if ranks gather sharded parameters: before each use, or once after each rank has updated
/// its shard.
inline bool gathers_parameters(const Sharding& sharding) {
  return sharding.parameters != Spread::kNone || sharding.optimizer != Spread::kNone;
}

}  // namespace stepwright::plan
