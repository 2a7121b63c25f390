#pragma once

#include <vector>

#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// The law of one kind, phase and type of computation, of which all samples are: start, seconds per
/// FLOP and seconds per byte, none below 0, with the least squares of predicted over measured, in
/// which samples that are more than 5 % off count by that instead of its square.
cost::ComputationLaw fit_computation_law(const std::vector<ComputationSample>& samples);

/// Seconds of the computation of a sample.
double predicted_s(const cost::ComputationLaw& law, const ComputationSample& sample);

}  // namespace stepwright::fit
