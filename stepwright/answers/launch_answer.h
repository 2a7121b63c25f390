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

/// The files of a framework that start a plan.
struct Launch {
  std::string framework;  ///< Word of the framework in jobs.
  std::string target;     ///< Word of `export --to`.

  /// The command that writes them; `plan_file` has the plan (empty: plan.yaml).
  [[nodiscard]] std::string command(const std::string& plan_file) const;
};

/// A plan that is faster than the first of an answer, and that no framework's files start.
struct UnboundPlan {
  plan::Job job;
  tune::TunedPlan tuned;
  std::string why;  ///< Why no framework runs it.
};

/// A search whose first plan a framework's files start, where there is one.
struct LaunchAnswer {
  plan::Job job;  ///< Job that was searched for that framework, on all of the cluster.
  tune::TuneResult result;
  std::optional<Launch> launch;       ///< Launch of the first plan; nullopt: no files start it.
  std::vector<std::string> refusals;  ///< Reasons of each framework, if there is no launch.
  /// Faster plan that no files start, if the job leaves the framework open.
  std::optional<UnboundPlan> unbound;
  StartedPlans started;  ///< Started plans of `result.job`.
};

/// Reads the job as its file says it for a framework; fails where the framework lacks a part of it.
using JobFor = std::function<plan::Job(const std::string& framework)>;

/// Searches a job; what it throws goes on.
using SearchJob = std::function<tune::TuneResult(const plan::Job& job)>;

/// The answer for the framework that has the fastest plan that its files start, in its own kernels.
/// A job that names a framework is searched for that alone, as is one without `job_for`.
LaunchAnswer answer_launch(const plan::Job& job, const JobFor& job_for, const SearchJob& search,
                           const tune::TuneOptions& options);

/// Finds for each framework the plan that its files start instead of a plan of the job of
/// `started`: the plan itself or the nearest one. A run without a plan: the files start none that
/// is near. `started` keeps what is found, for whoever asks again.
const std::vector<tune::FrameworkRun>& framework_starts(StartedPlans& started,
                                                        const plan::Plan& plan, int threads);

}  // namespace stepwright::answers
