#pragma once

#include <vector>

#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// Returns the time formula (start, seconds per FLOP, seconds per byte; none below 0) of one kind,
/// phase and element type of computation, which all samples must share. Least squares of predicted
/// over measured; errors above 5 % count by their size instead of their square.
cost::ComputationTimeLaw fit_computation_time_law(const std::vector<OwnComputationSample>& samples);

/// Returns the seconds that a formula predicts for a sample's computation.
double predicted_s(const cost::ComputationTimeLaw& law, const OwnComputationSample& sample);

}  // namespace stepwright::fit
