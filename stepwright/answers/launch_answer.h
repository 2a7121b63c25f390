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

/// How to start a plan: a framework, and the export target that writes its files.
struct FrameworkLaunch {
  std::string framework;  ///< Framework, by its name in job files.
  std::string target;     ///< Target that `export --to` names for its files.

  /// Returns the command that writes the files. `plan_file`: file of the plan; empty: plan.yaml.
  [[nodiscard]] std::string command(const std::string& plan_file) const;
};

/// A plan that is faster than the first plan of an answer, but that no framework's files can start.
struct UnlaunchablePlan {
  plan::Job job;
  tune::TunedPlan tuned;
  std::string why;  ///< Reason why no framework can run the plan.
};

/// The result of a search for a plan that a framework's files can start.
struct LaunchAnswer {
  /// The job that was searched, with the chosen framework and all devices of the cluster.
  plan::Job job;
  tune::TuneResult result;
  /// How to start the first plan; nullopt: no framework's files can.
  std::optional<FrameworkLaunch> launch;
  /// Reason of each framework for not starting it, if there is no launch.
  std::vector<std::string> refusals;
  /// A faster plan that no files can start; nullopt: none, or the job names a framework.
  std::optional<UnlaunchablePlan> unbound;
  LaunchablePlans started;  ///< Cache: which frameworks' files start plans of `result.job`.
};

/// Reads the job again with another framework; fails if that framework lacks a feature of the job.
using JobFor = std::function<plan::Job(const std::string& framework)>;

/// Searches the plans of a job; exceptions are passed on.
using SearchJob = std::function<tune::TuneResult(const plan::Job& job)>;

/// Searches the job for each framework, with that framework's kernels, and returns the answer of
/// the one whose files start the fastest plan. A job that names a framework is searched for it
/// alone, and so is any job if `job_for` is empty.
LaunchAnswer choose_framework_to_launch(const plan::Job& job, const JobFor& job_for,
                                        const SearchJob& search, const tune::TuneOptions& options);

/// For each framework, finds the plan that its files start instead of `plan`: the plan itself or
/// the nearest one. A run without a plan means that the framework starts no plan near it. The
/// result is kept in `started` for later calls; the plan must be of the job of `started`.
const std::vector<tune::FrameworkRun>& find_launchable_plans(LaunchablePlans& started,
                                                             const plan::Plan& plan, int threads);

}  // namespace stepwright::answers
