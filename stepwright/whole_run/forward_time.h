#pragma once

#include "stepwright/simulate/prediction.h"

namespace stepwright::whole_run {

/// Returns the seconds that an evaluation needs for one global batch: the plan's step is simulated
/// with forward passes only.
double evaluation_batch_time_s(const simulate::PlanPrediction& prediction);

}  // namespace stepwright::whole_run
