#pragma once

#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::memory {

/// The answer to whether a run fits in memory, the best word first.
enum class FitVerdict : std::uint8_t {
  kFits,  ///< The probability of fitting is at least the requested one.
  /// The run fits with less than the requested probability, but is not that likely to be too large
  /// either.
  kTight,
  kDoesNotFit  ///< The probability of not fitting is at least the requested one.
};
inline constexpr Named<FitVerdict> kFitVerdictNames[] = {{FitVerdict::kFits, "fits"},
                                                         {FitVerdict::kTight, "tight"},
                                                         {FitVerdict::kDoesNotFit, "does_not_fit"}};

/// Returns the probability of fitting below which a run does not fit: 1 - confidence. A confidence
/// below a half is its own end, so that no run is both; nothing is tight there.
double least_tight_probability(double confidence);

/// Returns the verdict on a run that fits with a probability where a confidence is asked for.
FitVerdict fit_verdict(double probability, double confidence);

}  // namespace stepwright::memory
