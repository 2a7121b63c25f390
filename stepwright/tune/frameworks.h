#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stepwright/tune/enumeration.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// True if the job's framework runs a legal, canonical plan (unused choices at their defaults)
/// unchanged; true without a framework.
bool framework_supports_plan_unchanged(const plan::Job& job, const SearchSpaceDimensions& space,
                                       const plan::Plan& plan);

/// Returns the number of points of the search space that the job's framework does not run, by the
/// ability that it lacks.
std::vector<PlanRefusalCount> framework_refusals(const SearchSpaceDimensions& space,
                                                 const LegalPlanCounter& enumeration);

/// The plan that a framework would run in place of a given plan: the plan itself if the framework
/// runs it, else the nearest plan that it runs, with its predicted time and memory.
struct NearestFrameworkPlan {
  /// Name of the framework as job files spell it: of the variant (a fork or trainer) if there is
  /// one, else of the framework.
  std::string_view framework;
  std::optional<plan::Plan> plan;  ///< The framework's plan; nullopt: it runs no plan of the job.
  /// Attention kernel with which the framework runs the plan.
  cluster::AttentionKernel attention{};
  double price_s = 0;      ///< Closed-form seconds of a step of the plan with this framework.
  double step_time_s = 0;  ///< Simulated seconds of a step of the plan with this framework.
  bool fits = false;       ///< True if the plan fits in memory when this framework runs it.
  /// Whether the plan fits in memory, is tight (it may fit, with less than the requested
  /// probability) or does not fit.
  memory::MemoryFitVerdict verdict = memory::MemoryFitVerdict::kDoesNotFit;
};

/// Returns, for each of `frameworks` in order, the plan that it would run in place of a legal,
/// canonical plan. `frameworks` must outlive the result. With the job's own framework the run is as
/// `predict` says, except for kernels that the framework's recipe files cannot switch on.
std::vector<NearestFrameworkPlan> nearest_framework_plans(
    const plan::Job& job, const plan::Plan& plan,
    std::span<const plan::TrainingFramework> frameworks, int threads = 1);

/// Returns the step time in seconds that a search of this job is likely to reach: the least
/// closed-form price among plans near `near`. Infinite if no plan near it fits, or if `near` is not
/// in the job's search space.
double step_seconds_likely_found_by_search(const plan::Job& job, const plan::Plan& near);

/// Frameworks that do not run a given plan unchanged, and the plan, nearest to it, that all of them
/// run instead.
struct NearestPlanGroup {
  std::vector<std::string_view> frameworks;
  /// The nearest plan that the frameworks run; nullopt: they run no plan of the job.
  std::optional<plan::Plan> plan;
};

/// Groups the frameworks that cannot run `plan` unchanged by the plan that they run instead.
/// Frameworks that run no plan of the job come last.
std::vector<NearestPlanGroup> group_frameworks_by_nearest_plan(
    const std::vector<NearestFrameworkPlan>& runs, const plan::Plan& plan);

}  // namespace stepwright::tune
