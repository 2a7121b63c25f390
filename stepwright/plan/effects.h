#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

// Conditions without which other choices of a plan change nothing.

/// True if ranks must reduce gradients: several ranks hold the same parameters or the same experts.
inline bool reduces_gradients(const Job& job, const ParallelismDegrees& degrees) {
  return degrees.context * degrees.data > 1 ||
         (job.model.experts && degrees.expert_data_degree() > 1);
}

/// True if a layer's experts are spread over several ranks, so that tokens are sent to them.
inline bool sends_tokens_to_expert_ranks(const ParallelismDegrees& degrees) {
  return degrees.expert * degrees.expert_tensor > 1;
}

/// True if ranks gather sharded parameters: before each use, or once after each rank has updated
/// its shard.
inline bool gathers_parameters(const Sharding& sharding) {
  return sharding.parameters != StateShardingScope::kNone ||
         sharding.optimizer != StateShardingScope::kNone;
}

}  // namespace stepwright::plan
