#pragma once

#include <map>
#include <vector>

#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// Returns the time formula for Gloo of torch.distributed (c10d) that fits the samples best, with
/// its ratio to the measured times for each shape of groups. Least squares of the logarithm of
/// predicted over measured; errors beyond 2 % count by their size, up to a half.
/// Levenberg-Marquardt, starting from the fastest formula that the samples allow, with one NIC for
/// each rank or the NICs of a node shared, whichever fits better. A constant that no sample shows
/// is 0. Samples must be of one operation; at least one.
cost::SampledLaw<cost::GlooCostLaw> fit_gloo_message_law(
    const std::vector<OwnCollectiveSample>& samples);

/// Returns a time formula of Gloo for each of several operations, fitted together since the same
/// sockets carry them. Operations with samples get their own rates and ratios to measured times;
/// operations without samples get the common formula. If all groups have one shape, hops cannot be
/// told from starts, and all of this time is the start.
std::map<collective::CollectiveOperation, cost::SampledLaw<cost::GlooCostLaw>>
fit_gloo_operation_laws(const std::vector<OwnCollectiveSample>& samples);

/// Fits the time formula of a collective that this project's process group runs as an explicit
/// schedule of sends. All samples must have the same algorithm, operation and chunk size.
cost::SampledLaw<cost::ScheduledCollectiveLaw> fit_schedule_message_law(
    const std::vector<OwnCollectiveSample>& samples);

/// Returns the seconds that a formula predicts for a sample's message.
double predicted_s(const cost::SampledLaw<cost::GlooCostLaw>& law,
                   const OwnCollectiveSample& sample);
double predicted_s(const cost::SampledLaw<cost::ScheduledCollectiveLaw>& law,
                   const OwnCollectiveSample& sample);

}  // namespace stepwright::fit
