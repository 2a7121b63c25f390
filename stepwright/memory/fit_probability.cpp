#include "stepwright/memory/fit_probability.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stepwright/core/normal.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::memory {
namespace {

/// Fitted to 651 runs known to have fitted or not, and 62 peaks.
constexpr MemoryErrorModel kOfLabels{.mean = 0.035, .deviation = 0.108};
/// Fitted to 286 peaks of allocators and processes; the sources differ from each other as much as
/// one of them varies.
constexpr MemoryErrorModel kOfPeaks{.mean = 0.0, .deviation = 0.08};
/// Fitted to all of these runs, plus the spread between software stacks.
constexpr MemoryErrorModel kOfOthers{.mean = 0.02, .deviation = 0.15};

}  // namespace

MemoryErrorModel memory_error_model(const plan::Framework& framework) {
  switch (plan::framework_defaults(framework).memory.evidence) {
    case plan::MemoryEvidence::kLabels: return kOfLabels;
    case plan::MemoryEvidence::kPeaks: return kOfPeaks;
    case plan::MemoryEvidence::kNone: break;
  }
  return kOfOthers;
}

double fit_probability(double share, const MemoryErrorModel& error_model) {
  if (share <= 0) return 1;
  const double fits = normal_cdf((-std::log(share) - error_model.mean) / error_model.deviation);
  return kUnexplainedRuns / 2 + (1 - kUnexplainedRuns) * fits;
}

double share_at(double probability, const MemoryErrorModel& error_model) {
  const double fits = (probability - kUnexplainedRuns / 2) / (1 - kUnexplainedRuns);
  if (fits >= 1) return 0;
  if (fits <= 0) return std::numeric_limits<double>::infinity();
  return std::exp(-error_model.mean - error_model.deviation * normal_quantile(fits));
}

}  // namespace stepwright::memory
