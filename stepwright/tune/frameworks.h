#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stepwright/tune/enumeration.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// True if the job's framework runs all choices of a legal, canonical plan; true without a
/// framework.
bool runs_there(const plan::Job& job, const SpaceDimensions& space, const plan::Plan& plan);

/// Returns the number of points of the space that the job's framework does not run, one entry for
/// each ability that it lacks.
std::vector<Refusal> framework_refusals(const SpaceDimensions& space,
                                        const Enumeration& enumeration);

/// The plan that a framework would run in place of a given plan: the plan itself where the
/// framework runs it, else the nearest plan that it runs.
struct FrameworkRun {
  std::string_view framework;  ///< Name as in job files: the variant's, else the framework's.
  std::optional<plan::Plan>
      plan;  ///< nullopt: no plan is legal with this framework, or it does not run the job itself.
  cluster::AttentionKernel attention{};  ///< Attention kernel that the framework's file starts.
  double price_s = 0;                    ///< Closed-form seconds of a step with this framework.
  double step_time_s = 0;                ///< Simulated time of a step.
  bool fits = false;                     ///< True if the plan's program fits in memory.
  /// Whether the plan fits, is tight or does not fit.
  memory::FitVerdict verdict = memory::FitVerdict::kDoesNotFit;
};

/// Returns one run for each of `frameworks`, in that order; `frameworks` must outlive the result.
/// `plan` is legal and canonical. The job's own framework runs it as `predict` says, except for
/// kernels that its files do not start.
std::vector<FrameworkRun> framework_runs(const plan::Job& job, const plan::Plan& plan,
                                         std::span<const plan::Framework> frameworks,
                                         int threads = 1);

/// Returns the least closed-form step time, in seconds, that a framework's job is likely to reach,
/// from the plans near `near` (`least_neighbour_seconds`). Infinity: no plan near it fits, or it is
/// not in the job's space.
double likely_step_s(const plan::Job& job, const plan::Plan& near);

/// Frameworks that do not run a plan as it is, with the nearest plan that all of them run.
struct NearestRun {
  std::vector<std::string_view> frameworks;
  std::optional<plan::Plan> plan;  ///< The nearest plan; nullopt as in `FrameworkRun`.
};

/// Groups the frameworks that changed the plan by the plan that they run instead. Frameworks
/// without a plan come last.
std::vector<NearestRun> nearest_runs(const std::vector<FrameworkRun>& runs, const plan::Plan& plan);

}  // namespace stepwright::tune
