#pragma once

#include <compare>
#include <cstddef>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/tune/tune.h"

namespace stepwright::answers {

/// Relative difference in step time below which two plans count as equally fast, because repeated
/// runs of one plan differ as much (docs/accuracy.md). The simpler of equally fast plans comes
/// first.
inline constexpr double kEqualStepTolerance = 0.01;

/// How complex a plan is for the people who run it, to order equally fast plans. Less is better;
/// the first member that differs decides.
struct PlanComplexity {
  /// Number of kinds of parallelism that the plan uses, not counting data parallelism.
  int kinds = 0;
  /// Number of the plan's settings that differ from the recommended recipe of the framework.
  int moves = 0;
  bool recomputes = false;  ///< True if the plan recomputes activations in the backward.
  auto operator<=>(const PlanComplexity&) const = default;
};

/// Returns the complexity of running a plan with the framework of its job. The plan must be in
/// canonical form.
PlanComplexity complexity_of_running_plan(const plan::Job& job, const plan::Plan& plan);

/// Moves the simplest plans to the front among those within 1 % (`kEqualStepTolerance`) of the
/// fastest; `plans` must be sorted fastest first. Returns the number of plans within that range.
std::size_t move_simplest_of_fastest_plans_first(const plan::Job& job,
                                                 std::vector<tune::TunedPlan>& plans);

}  // namespace stepwright::answers
