#pragma once

#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright {

/// The computations of an update, on the `elements` that a rank's optimizer holds: the sum of
/// squared gradients, then the optimizer's step.
Operator norm_operator(std::int64_t elements, DType gradient);
Operator optimizer_operator(std::int64_t elements, Optimizer optimizer, DType storage,
                            DType gradient);

}  // namespace stepwright
