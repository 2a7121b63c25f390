#pragma once

#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::memory {

/// Error of the memory prediction for one kind of software stack: the logarithm of real over
/// predicted bytes is normal with this mean and deviation, except for a few unexplained runs.
struct MemoryErrorModel {
  double mean = 0;
  double deviation = 0;
};

/// Returns the error model of the memory prediction for a framework; it depends on which
/// measurements exist for the framework: runs that fitted or ran out of memory, measured peaks, or
/// none. Fitted by `tools/accuracy/fit_memory.py` (docs/accuracy.md).
MemoryErrorModel memory_prediction_error_model(const plan::TrainingFramework& framework);

/// Share of runs whose fits / out-of-memory outcome the memory prediction does not explain at all.
inline constexpr double kUnexplainedMemoryOutcomeShare = 0.02;

/// Returns the probability that a run fits whose predicted peak is `share` of the memory capacity.
double memory_fit_probability(double share, const MemoryErrorModel& error_model);

/// Returns the largest predicted peak, as a share of the memory capacity, at which a run fits with
/// this probability; 0 if none does.
double predicted_peak_share_at_probability(double probability, const MemoryErrorModel& error_model);

}  // namespace stepwright::memory
