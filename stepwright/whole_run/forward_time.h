#pragma once

#include "stepwright/simulate/prediction.h"

namespace stepwright::whole_run {

/// Seconds of the forward passes of one batch, for an evaluation: the plan's program played with
/// nothing else in its schedule.
double forward_time_s(const simulate::Prediction& prediction);

}  // namespace stepwright::whole_run
