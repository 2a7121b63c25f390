#pragma once

#include <optional>

#include "stepwright/plan/job.h"

namespace stepwright::answers {

/// The safety margin of device memory that a user asks for beside the job: a share or a
/// probability, at most one of them.
struct MemoryHeadroom {
  /// Share of device memory that plans leave free; nullopt: not given.
  std::optional<double> share;
  std::optional<double> confidence;  ///< Probability with which plans must fit; nullopt: not given.

  /// Overrides the margin of a job with the one that was given.
  void apply(plan::Job& job) const {
    if (share) job.objective.memory_reserve = *share;
    if (!confidence) return;
    job.objective.memory_confidence = *confidence;
    job.objective.memory_reserve = -1;
  }
};

/// The largest share of device memory that a user may reserve.
inline constexpr double kMaxMemoryHeadroom = 0.99;

}  // namespace stepwright::answers
