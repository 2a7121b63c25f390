#pragma once

#include <map>
#include <vector>

#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// Returns the law of c10d's Gloo that fits the samples best, with its ratio to the measured times
/// for each shape of groups. Least squares of the logarithm of predicted over measured; errors
/// beyond 2 % count by their size, up to a half. Levenberg-Marquardt, starting from the fastest law
/// that the samples allow, with one NIC for each rank or the NICs of a node shared, whichever fits
/// better. A constant that no sample shows is 0. All samples must be of one operation; there must
/// be at least one.
cost::SampledLaw<cost::SocketLaw> fit_gloo(const std::vector<MessageSample>& samples);

/// Returns one law for several operations, since the same sockets carry them. Operations with
/// samples get rates of their own and ratios to the measured times; operations without samples get
/// the common law only. If all groups have the same shape, hops cannot be told from starts, and all
/// of that time is the start.
std::map<collective::Collective, cost::SampledLaw<cost::SocketLaw>> fit_gloo_operations(
    const std::vector<MessageSample>& samples);

/// Fits the law of schedules; all samples must have the same method, operation and chunk size.
cost::SampledLaw<cost::ScheduleLaw> fit_schedule(const std::vector<MessageSample>& samples);

/// Returns the predicted seconds of a sample's message.
double predicted_s(const cost::SampledLaw<cost::SocketLaw>& law, const MessageSample& sample);
double predicted_s(const cost::SampledLaw<cost::ScheduleLaw>& law, const MessageSample& sample);

}  // namespace stepwright::fit
