#pragma once

#include <map>
#include <vector>

#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// The law of c10d's Gloo that comes nearest to the samples, and what it misses of each shape of
/// groups. Least squares of the logarithm of predicted over measured, in which errors beyond 2 %
/// count by their size, up to a half (Levenberg-Marquardt from the fastest law that the samples
/// allow), with NICs of ranks or of nodes, whichever are nearer. A constant that no sample shows is
/// 0. All samples are of one operation; there is at least one.
cost::SampledLaw<cost::SocketLaw> fit_gloo(const std::vector<MessageSample>& samples);

/// One law of several operations, which the same sockets carry. Operations with samples have a rate
/// of their own, and what that misses; those without have the law alone. Where all groups are
/// alike, hops cannot be told from starts, and all of it is start.
std::map<collective::Collective, cost::SampledLaw<cost::SocketLaw>> fit_gloo_operations(
    const std::vector<MessageSample>& samples);

/// Fits the law of schedules; all samples are of one method, operation and size of chunks.
cost::SampledLaw<cost::ScheduleLaw> fit_schedule(const std::vector<MessageSample>& samples);

/// Seconds of the message of a sample.
double predicted_s(const cost::SampledLaw<cost::SocketLaw>& law, const MessageSample& sample);
double predicted_s(const cost::SampledLaw<cost::ScheduleLaw>& law, const MessageSample& sample);

}  // namespace stepwright::fit
