#pragma once

#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/framework_files/starters.h"
#include "stepwright/plan/job.h"
#include "stepwright/tune/frameworks.h"

namespace stepwright::answers {

/// A cache of which frameworks' launch files can start which plans of one job: each plan is
/// exported at most once for each framework.
class LaunchablePlans {
 public:
  LaunchablePlans() = default;
  explicit LaunchablePlans(plan::Job job) : job_(std::move(job)) {}

  [[nodiscard]] const plan::Job& job() const { return job_; }

  /// True if the exported files of a framework start the plan unchanged. `place`: index of the
  /// framework in `framework_files::importable_and_exportable_frameworks()`.
  bool does_framework_start_plan(std::size_t place, const plan::Plan& plan);

  /// Exports plans on several threads to fill the cache. `plans[i]`: plan to export for framework
  /// `i` of `importable_and_exportable_frameworks()`; nullopt: none.
  void export_plans_into_cache(const std::vector<std::optional<plan::Plan>>& plans, int threads);

  /// Returns the names of the frameworks whose exported files start the plan unchanged.
  std::vector<std::string> frameworks_running_exported_plan(const plan::Plan& plan);

  /// Returns, for each framework, the plan that it runs in place of `plan`, as stored by
  /// `cache_nearest_framework_plans`; nullptr: nothing stored.
  [[nodiscard]] const std::vector<tune::NearestFrameworkPlan>* cached_nearest_framework_plans(
      const plan::Plan& plan) const;

  /// Stores, for each framework, the plan that it runs in place of `plan`. The returned reference
  /// is valid as long as this object.
  const std::vector<tune::NearestFrameworkPlan>& cache_nearest_framework_plans(
      const plan::Plan& plan, std::vector<tune::NearestFrameworkPlan> runs);

 private:
  /// For one plan and each framework of `importable_and_exportable_frameworks()`: whether the
  /// framework's exported files start the plan; nullopt: not tried yet.
  using Started = std::vector<std::optional<bool>>;

  Started& started(const plan::Plan& plan);

  plan::Job job_;
  std::vector<std::pair<plan::Plan, Started>> plans_;
  std::list<std::pair<plan::Plan, std::vector<tune::NearestFrameworkPlan>>> runs_;
};

}  // namespace stepwright::answers
