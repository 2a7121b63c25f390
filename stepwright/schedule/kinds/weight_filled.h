#pragma once

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// `warm_up` forwards, then a data gradient, the weight gradient of the one `deferred` before it,
/// and the next forward in turn; what is left of the weight gradients at the end.
Turns fill_with_weights(const PipelineSize& size, std::int64_t warm_up, std::int64_t deferred);

}  // namespace stepwright::schedule
