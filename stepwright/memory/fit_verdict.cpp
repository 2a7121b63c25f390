#include "stepwright/memory/fit_verdict.h"

#include <algorithm>

namespace stepwright::memory {

double least_tight_probability(double confidence) { return std::min(confidence, 1 - confidence); }

FitVerdict fit_verdict(double probability, double confidence) {
  if (probability >= confidence) return FitVerdict::kFits;
  return probability < least_tight_probability(confidence) ? FitVerdict::kDoesNotFit
                                                           : FitVerdict::kTight;
}

}  // namespace stepwright::memory
