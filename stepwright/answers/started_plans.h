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

/// A cache of the frameworks whose files start each plan of one job: each plan is exported at most
/// once for each framework.
class LaunchablePlans {
 public:
  LaunchablePlans() = default;
  explicit LaunchablePlans(plan::Job job) : job_(std::move(job)) {}

  [[nodiscard]] const plan::Job& job() const { return job_; }

  /// True if the files of a framework start a plan unchanged. `place`: index of the framework in
  /// `framework_files::framework_starters()`.
  bool starts(std::size_t place, const plan::Plan& plan);

  /// Exports plans on several threads. `plans`: for each framework of `framework_starters()`, a
  /// plan to export; nullopt: none for that framework.
  void write(const std::vector<std::optional<plan::Plan>>& plans, int threads);

  /// Returns the names of the frameworks whose files start a plan unchanged.
  std::vector<std::string> frameworks(const plan::Plan& plan);

  /// Returns the runs stored by `store_framework_runs` for a plan; nullptr: none.
  [[nodiscard]] const std::vector<tune::FrameworkRun>* nearby_framework_runs(
      const plan::Plan& plan) const;

  /// Stores the plans that each framework starts in place of a plan; the returned reference is
  /// valid as long as this object.
  const std::vector<tune::FrameworkRun>& store_framework_runs(const plan::Plan& plan,
                                                              std::vector<tune::FrameworkRun> runs);

 private:
  /// For each framework of `framework_starters()`, whether its files start a plan; nullopt: not
  /// tried yet.
  using Started = std::vector<std::optional<bool>>;

  Started& started(const plan::Plan& plan);

  plan::Job job_;
  std::vector<std::pair<plan::Plan, Started>> plans_;
  std::list<std::pair<plan::Plan, std::vector<tune::FrameworkRun>>> runs_;
};

}  // namespace stepwright::answers
