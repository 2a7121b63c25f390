#pragma once

#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::memory {

/// Verdict whether a run fits in memory, the best one first.
enum class FitVerdict : std::uint8_t {
  kFits,  ///< The probability of fitting is at least the requested one.
  /// Neither is certain enough: fitting has less than the requested probability, and so has not
  /// fitting.
  kTight,
  kDoesNotFit  ///< The probability of not fitting is at least the requested one.
};
inline constexpr Named<FitVerdict> kFitVerdictNames[] = {{FitVerdict::kFits, "fits"},
                                                         {FitVerdict::kTight, "tight"},
                                                         {FitVerdict::kDoesNotFit, "does_not_fit"}};

/// Returns the probability of fitting below which a run counts as too large: 1 - confidence, or the
/// confidence itself if it is below one half; then no run is tight.
double least_tight_probability(double confidence);

/// Returns the verdict on a run that fits with `probability` if at least `confidence` is requested.
FitVerdict fit_verdict(double probability, double confidence);

}  // namespace stepwright::memory
