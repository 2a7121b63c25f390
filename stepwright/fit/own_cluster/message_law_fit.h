#pragma once

#include <vector>

#include "stepwright/fit/samples/own_sample.h"

namespace stepwright {

/// The law of c10d's Gloo that has the least sum of relative errors (each counted up to a half),
/// and what it misses of each shape of groups. All samples are of one operation.
SampledLaw<SocketLaw> fit_gloo(const std::vector<MessageSample>& samples);

/// The same of schedules; all samples are of one method, operation and size of chunks.
SampledLaw<ScheduleLaw> fit_schedule(const std::vector<MessageSample>& samples);

/// Seconds of the message of a sample.
double predicted_s(const SampledLaw<SocketLaw>& law, const MessageSample& sample);
double predicted_s(const SampledLaw<ScheduleLaw>& law, const MessageSample& sample);

}  // namespace stepwright
