#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/started_plans.h"
#include "stepwright/plan/job.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/tune.h"

namespace stepwright::answers {

/// How to start training with a plan: the framework, and the export target that writes its launch
/// files.
struct FrameworkLaunch {
  std::string framework;  ///< Name of the framework, as job files spell it.
  /// Value of TARGET for which `stepwright export --to TARGET` writes the framework's files.
  std::string target;

  /// Returns the `stepwright export` command line that writes the framework's files. `plan_file`:
  /// path of the plan; empty: plan.yaml.
  [[nodiscard]] std::string command(const std::string& plan_file) const;
};

/// A plan that is faster than the recommended plan, but that no framework's files can start.
struct UnlaunchablePlan {
  plan::Job job;
  tune::TunedPlan tuned;
  std::string why;  ///< Reason why no framework can start the plan.
};

/// The result of a search for the fastest plan that some framework's files can start.
struct LaunchablePlanAnswer {
  /// The job that was searched, with the chosen framework and with all devices of the cluster.
  plan::Job job;
  tune::TuneResult result;
  /// How to start the best plan; nullopt: no framework's files can.
  std::optional<FrameworkLaunch> launch;
  /// For each framework, the reason why its files cannot start the best plan; empty if `launch` is
  /// set.
  std::vector<std::string> refusals;
  /// A faster plan that no framework can start; nullopt: none, or the job names a framework.
  std::optional<UnlaunchablePlan> unbound;
  LaunchablePlans started;  ///< Cache of which frameworks can start which plans of `result.job`.
};

/// Callback that reads the job again for another framework; fails if that framework lacks a feature
/// that the job needs.
using ReadJobForFramework = std::function<plan::Job(const std::string& framework)>;

/// Callback that searches the plans of a job; its exceptions are passed on.
using SearchPlansOfJob = std::function<tune::TuneResult(const plan::Job& job)>;

/// Searches the job once for each framework, with that framework's kernels, and returns the result
/// of the framework whose files start the fastest plan. Searches one framework only if the job
/// names it, or if `job_for` is empty.
LaunchablePlanAnswer choose_framework_to_launch(const plan::Job& job,
                                                const ReadJobForFramework& job_for,
                                                const SearchPlansOfJob& search,
                                                const tune::TuneOptions& options);

/// Returns, for each framework, the plan that its files can start: `plan` itself or the nearest
/// one; an entry whose `plan` is nullopt: the framework can start none. The result is kept in
/// `started` for later calls. `plan` must be a plan of the job of `started`.
const std::vector<tune::NearestFrameworkPlan>& find_launchable_plans(LaunchablePlans& started,
                                                                     const plan::Plan& plan,
                                                                     int threads);

}  // namespace stepwright::answers
