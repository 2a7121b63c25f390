#pragma once

#include <span>

#include "stepwright/learn/learnable_constants.h"
#include "stepwright/plan/job.h"

namespace stepwright::learn {

/// Returns the simulated step time of a plan in seconds, with the given constants of the cost
/// model.
double simulated_step_s(const plan::PlannedJob& planned,
                        const cost::TrainingConditions& conditions);

/// Linearises the step times of plans around the constants `around` (all as logarithms), by
/// simulating each plan once more for each constant that its job depends on.
LinearizedStepTimes linearize_step_times(std::span<const plan::PlannedJob> plans,
                                         const LearnableConstants& learnable,
                                         const Eigen::VectorXd& around, int threads);

}  // namespace stepwright::learn
