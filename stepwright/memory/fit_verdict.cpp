#include "stepwright/memory/fit_verdict.h"

#include <algorithm>

namespace stepwright::memory {

double min_probability_of_tight_fit(double confidence) {
  return std::min(confidence, 1 - confidence);
}

MemoryFitVerdict memory_fit_verdict(double probability, double confidence) {
  if (probability >= confidence) return MemoryFitVerdict::kFits;
  return probability < min_probability_of_tight_fit(confidence) ? MemoryFitVerdict::kDoesNotFit
                                                                : MemoryFitVerdict::kTight;
}

}  // namespace stepwright::memory
