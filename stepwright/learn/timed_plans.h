#pragma once

#include <span>

#include "stepwright/learn/learnable.h"
#include "stepwright/plan/job.h"

namespace stepwright::learn {

/// Returns the simulated seconds of a step under given training conditions.
double step_s(const plan::PlannedJob& planned, const cost::TrainingConditions& conditions);

/// Returns the logarithms of the seconds of some plans as a linear function of the learnable
/// constants, around `around`: a numerical derivative, with one simulation for each plan and each
/// constant that concerns its job.
LinearTimes linear_times(std::span<const plan::PlannedJob> plans, const Learnable& learnable,
                         const Eigen::VectorXd& around, int threads);

}  // namespace stepwright::learn
