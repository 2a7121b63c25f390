#pragma once

#include "stepwright/simulate/prediction.h"

namespace stepwright::whole_run {

/// Returns the seconds of the forward passes of one batch, as an evaluation runs them: the plan's
/// program is simulated with the forward passes alone.
double forward_time_s(const simulate::Prediction& prediction);

}  // namespace stepwright::whole_run
