#pragma once

#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::memory {

/// How far the memory that a run needs is from the account, for one kind of stack: the logarithm of
/// needed over accounted bytes is normal, but for a few runs of which nothing can be said.
struct MemoryErrorModel {
  double mean = 0;
  double deviation = 0;
};

/// The error model of a job's framework: one of those whose runs ran out of memory or not before
/// somebody's eyes, one whose peaks are known, or another. Fitted by `tools/accuracy/fit_memory.py`
/// (docs/accuracy.md).
MemoryErrorModel memory_error_model(const plan::Framework& framework);

/// Share of the runs that the account says nothing of: labels that no model explains.
inline constexpr double kUnexplainedRuns = 0.02;

/// P(a run fits | its accounted peak as a share of the capacity).
double fit_probability(double share, const MemoryErrorModel& error_model);

/// The largest share of the capacity at which a run fits with this probability. 0 where none does.
double share_at(double probability, const MemoryErrorModel& error_model);

}  // namespace stepwright::memory
