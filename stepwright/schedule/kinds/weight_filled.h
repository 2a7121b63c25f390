#pragma once

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Returns the turns (schedule entries) of a pipeline rank that fills waits with weight gradients:
/// `warm_up` forwards, then alternately a data gradient, the weight gradient of the micro-batch
/// `deferred` before it, and the next forward; the remaining weight gradients come last.
Turns fill_waits_with_weight_gradients(const PipelinePositionSizes& size, std::int64_t warm_up,
                                       std::int64_t deferred);

}  // namespace stepwright::schedule
