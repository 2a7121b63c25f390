#pragma once

#include <compare>
#include <cstddef>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/tune/tune.h"

namespace stepwright::answers {

/// The relative difference in step time between repeated runs of one plan (docs/accuracy.md, "What
/// the bars ask of predictions"). Plans that are closer than this are ordered by the effort of
/// running them.
inline constexpr double kEqualStepTolerance = 0.01;

/// The effort that a plan asks of the people who run it. Less is better; the first member that
/// differs decides.
struct PlanComplexity {
  int kinds = 0;            ///< Number of kinds of parallelism, without data parallelism.
  int moves = 0;            ///< Number of choices that differ from the recipe of its framework.
  bool recomputes = false;  ///< True if the plan recomputes any activations.
  auto operator<=>(const PlanComplexity&) const = default;
};

/// Counts the effort of running a canonical plan with the framework of its job.
PlanComplexity plan_complexity(const plan::Job& job, const plan::Plan& plan);

/// Reorders the plans within `kEqualStepTolerance` of the fastest by the effort of running them;
/// `plans` must be sorted fastest first. Returns the number of these plans.
std::size_t order_ties_by_complexity(const plan::Job& job, std::vector<tune::TunedPlan>& plans);

}  // namespace stepwright::answers
