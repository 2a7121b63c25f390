#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stepwright/tune/enumeration.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Whether the job's framework runs what a legal, canonical plan of it chooses; true without one.
bool runs_there(const plan::Job& job, const Dimensions& space, const plan::Plan& plan);

/// Points of the space that the job's framework does not run, one entry for each of its abilities.
std::vector<Refusal> framework_refusals(const Dimensions& space, const Enumeration& enumeration);

/// The plan that a framework starts for a plan: the plan itself where it runs there, else the
/// nearest.
struct FrameworkRun {
  std::string_view framework;  ///< As jobs call it: the variant, else the framework.
  std::optional<plan::Plan>
      plan;  ///< nullopt: no plan is legal there, or the job itself does not run.
  cluster::AttentionKernel attention{};                          ///< Kernel that its file starts.
  double price_s = 0;                                            ///< Closed form of a step there.
  double step_time_s = 0;                                        ///< Simulated time of a step.
  bool fits = false;                                             ///< True if its program fits.
  memory::FitVerdict verdict = memory::FitVerdict::kDoesNotFit;  ///< The verdict behind `fits`.
};

/// One for each of `frameworks`, which must outlive it, in that order. The plan is legal and
/// canonical. The framework of the job runs it as `predict` says, but for kernels that its files do
/// not start.
std::vector<FrameworkRun> framework_runs(const plan::Job& job, const plan::Plan& plan,
                                         std::span<const plan::Framework> frameworks,
                                         int threads = 1);

/// The least step time in closed form that a framework's job is likely to reach, by what is near a
/// plan of it (`least_near_s`), in seconds. Infinity: nothing near it fits, or the job's space does
/// not have it.
double likely_step_s(const plan::Job& job, const plan::Plan& near);

/// Frameworks that do not run a plan as it is, and the nearest that they all run.
struct NearestRun {
  std::vector<std::string_view> frameworks;
  std::optional<plan::Plan> plan;  ///< The plan, as in `FrameworkRun`.
};

/// Returns the entries of `runs` that changed the plan, joined by their nearest plan. Entries
/// without a plan come last.
std::vector<NearestRun> nearest_runs(const std::vector<FrameworkRun>& runs, const plan::Plan& plan);

}  // namespace stepwright::tune
