#pragma once

#include <span>

#include "stepwright/learn/learnable.h"
#include "stepwright/plan/job.h"

namespace stepwright::learn {

/// Simulated seconds of a step under conditions of training.
double step_s(const plan::PlannedJob& planned, const cost::TrainingConditions& conditions);

/// The logarithms of the seconds of some plans as a linear function of what can be learned, around
/// some logarithms: a numerical derivative, one simulation for each plan and each constant that
/// concerns its job.
LinearTimes linear_times(std::span<const plan::PlannedJob> plans, const Learnable& learnable,
                         const Eigen::VectorXd& around, int threads);

}  // namespace stepwright::learn
