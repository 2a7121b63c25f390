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

/// Which frameworks' files start plans of one job. Each plan is written for each framework once.
class StartedPlans {
 public:
  StartedPlans() = default;
  explicit StartedPlans(plan::Job job) : job_(std::move(job)) {}

  [[nodiscard]] const plan::Job& job() const { return job_; }

  /// True if the files of a framework start a plan as it is; `place`: of the framework among
  /// `framework_files::starters()`.
  bool starts(std::size_t place, const plan::Plan& plan);

  /// Writes plans for frameworks on some threads: the plan that stands at the place of each;
  /// nullopt: none of that framework's.
  void write(const std::vector<std::optional<plan::Plan>>& plans, int threads);

  /// Names of the frameworks whose files start a plan as it is.
  std::vector<std::string> frameworks(const plan::Plan& plan);

  /// The runs that `keep_runs` keeps for a plan; nullptr: none.
  [[nodiscard]] const std::vector<tune::FrameworkRun>* runs_near(const plan::Plan& plan) const;

  /// Keeps the runs that each framework starts for a plan; the reference lasts as long as this.
  const std::vector<tune::FrameworkRun>& keep_runs(const plan::Plan& plan,
                                                   std::vector<tune::FrameworkRun> runs);

 private:
  /// Whether each framework's files start a plan, in the order of starters; nullopt: not asked yet.
  using Started = std::vector<std::optional<bool>>;

  Started& started(const plan::Plan& plan);

  plan::Job job_;
  std::vector<std::pair<plan::Plan, Started>> plans_;
  std::list<std::pair<plan::Plan, std::vector<tune::FrameworkRun>>> runs_;
};

}  // namespace stepwright::answers
