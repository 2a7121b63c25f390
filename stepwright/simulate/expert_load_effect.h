#pragma once

#include <optional>
#include <string>

#include "stepwright/plan/job.h"

namespace stepwright::simulate {

/// How a predicted step time changes with the uneven load of experts, if the job does not state
/// that load.
struct ExpertImbalanceEffect {
  double load = 0;  ///< Assumed load of the busiest expert rank over the mean load.
  /// Ratio of the closed-form step time with this load to that with equal loads.
  double longer = 0;
};

/// Returns how uneven expert loads change the step time of a job whose experts are on several
/// ranks; nullopt if the job states the loads or an expert capacity, or has no such experts.
/// `even_s`: closed-form step time in seconds with equal loads.
std::optional<ExpertImbalanceEffect> expert_imbalance_effect(const plan::PlannedJob& planned,
                                                             double even_s);

/// Returns a sentence for users on how uneven expert loads change a step of `step_s` seconds that
/// was predicted with equal loads.
std::string expert_imbalance_note(const ExpertImbalanceEffect& span, double step_s);

}  // namespace stepwright::simulate
