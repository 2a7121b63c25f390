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

MemoryErrorModel memory_prediction_error_model(const plan::TrainingFramework& framework) {
  switch (plan::framework_defaults(framework).memory.evidence) {
    case plan::FrameworkMemoryEvidence::kLabels: return kOfLabels;
    case plan::FrameworkMemoryEvidence::kPeaks: return kOfPeaks;
    case plan::FrameworkMemoryEvidence::kNone: break;
  }
  return kOfOthers;
}

double memory_fit_probability(double share, const MemoryErrorModel& error_model) {
  if (share <= 0) return 1;
  const double fits = normal_cdf((-std::log(share) - error_model.mean) / error_model.deviation);
  return kUnexplainedMemoryOutcomeShare / 2 + (1 - kUnexplainedMemoryOutcomeShare) * fits;
}

double predicted_peak_share_at_probability(double probability,
                                           const MemoryErrorModel& error_model) {
  const double fits =
      (probability - kUnexplainedMemoryOutcomeShare / 2) / (1 - kUnexplainedMemoryOutcomeShare);
  if (fits >= 1) return 0;
  if (fits <= 0) return std::numeric_limits<double>::infinity();
  return std::exp(-error_model.mean - error_model.deviation * normal_quantile(fits));
}

}  // namespace stepwright::memory
