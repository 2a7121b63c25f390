#pragma once

#include <optional>

#include "stepwright/plan/job.h"

namespace stepwright::answers {

/// The safety margin of device memory given on the command line: a share of the memory or a
/// probability of fitting, at most one of them.
struct MemoryHeadroom {
  /// Share of device memory that plans must leave free, 0 to 0.99; nullopt: not given.
  std::optional<double> share;
  /// Probability with which a plan must fit in memory; nullopt: not given.
  std::optional<double> confidence;

  /// Replaces a job's memory margin by the one given here; changes nothing if none was given.
  void replace_memory_margin_of_job(plan::Job& job) const {
    if (share) job.objective.memory_reserve = *share;
    if (!confidence) return;
    job.objective.memory_confidence = *confidence;
    job.objective.memory_reserve = -1;
  }
};

/// Upper limit for the share of device memory that a user may ask to keep free.
inline constexpr double kMaxMemoryHeadroomShare = 0.99;

}  // namespace stepwright::answers
