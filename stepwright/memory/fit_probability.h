#pragma once

#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::memory {

/// Error of the memory account for one kind of software stack: the logarithm of needed over
/// accounted bytes is normal, except for a few unexplained runs.
struct MemoryErrorModel {
  double mean = 0;
  double deviation = 0;
};

/// Returns the error model for a framework, by the measured runs known for it: runs that fitted or
/// ran out of memory, runs with measured peaks, or none. Fitted by `tools/accuracy/fit_memory.py`
/// (docs/accuracy.md).
MemoryErrorModel memory_error_model(const plan::Framework& framework);

/// Share of runs about which the account says nothing: labels that no model explains.
inline constexpr double kUnexplainedRuns = 0.02;

/// Probability that a run fits whose accounted peak is `share` of the capacity.
double fit_probability(double share, const MemoryErrorModel& error_model);

/// Largest share of the capacity at which a run fits with this probability; 0 if none does.
double share_at(double probability, const MemoryErrorModel& error_model);

}  // namespace stepwright::memory
