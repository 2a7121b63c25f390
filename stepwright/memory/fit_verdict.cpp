#include "stepwright/memory/fit_verdict.h"

#include <algorithm>

namespace stepwright::memory {

double least_tight_probability(double confidence) { return std::min(confidence, 1 - confidence); }

MemoryFitVerdict memory_fit_verdict(double probability, double confidence) {
  if (probability >= confidence) return MemoryFitVerdict::kFits;
  return probability < least_tight_probability(confidence) ? MemoryFitVerdict::kDoesNotFit
                                                           : MemoryFitVerdict::kTight;
}

}  // namespace stepwright::memory
