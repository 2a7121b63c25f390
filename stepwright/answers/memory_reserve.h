#pragma once

#include <optional>

#include "stepwright/plan/job.h"

namespace stepwright::answers {

/// How surely plans shall fit in memory, where a person says it beside the job; at most one of the
/// two.
struct MemoryReserve {
  std::optional<double> share;       ///< Share of the device's memory that plans leave free.
  std::optional<double> confidence;  ///< Probability with which plans fit.

  /// Puts what was given into a job.
  void apply(plan::Job& job) const {
    if (share) job.objective.memory_reserve = *share;
    if (!confidence) return;
    job.objective.memory_confidence = *confidence;
    job.objective.memory_reserve = -1;
  }
};

/// Largest share that can be asked for.
inline constexpr double kMostReserve = 0.99;

}  // namespace stepwright::answers
