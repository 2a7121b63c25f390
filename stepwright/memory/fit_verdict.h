#pragma once

#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::memory {

/// Verdict whether a run fits in memory, given the probability that the user requests; the best
/// verdict first.
enum class MemoryFitVerdict : std::uint8_t {
  kFits,  ///< The run fits with at least the requested probability.
  /// Uncertain: neither fitting nor not fitting has the requested probability.
  kTight,
  kDoesNotFit  ///< The run fails to fit with at least the requested probability.
};
inline constexpr Named<MemoryFitVerdict> kFitVerdictNames[] = {
    {MemoryFitVerdict::kFits, "fits"},
    {MemoryFitVerdict::kTight, "tight"},
    {MemoryFitVerdict::kDoesNotFit, "does_not_fit"}};

/// Returns the probability of fitting below which a run counts as too large: the smaller of
/// `confidence` and 1 - `confidence`. With a `confidence` of one half or less, no run is uncertain.
double min_probability_of_tight_fit(double confidence);

/// Returns the verdict (fits, tight, does not fit) on a run that fits in memory with probability
/// `probability`, if the user requests at least the probability `confidence`.
MemoryFitVerdict memory_fit_verdict(double probability, double confidence);

}  // namespace stepwright::memory
