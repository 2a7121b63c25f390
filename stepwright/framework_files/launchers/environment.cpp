#include "stepwright/framework_files/launchers/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stepwright/collective/definition.h"
#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/quoting.h"
#include "stepwright/plan/frameworks/ability.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::framework_files {

std::vector<EnvironmentSetting> nccl_algorithm_settings(const plan::PlannedJob& planned) {
  const plan::Plan& plan = planned.plan;
  std::set<collective::CollectiveAlgorithm> asked;
  for (const auto scheme : plan::active_parallelism_schemes(plan))
    asked.insert(plan.collectives.*scheme);
  if (asked.empty() || asked == std::set{collective::CollectiveAlgorithm::kLibrary}) return {};
  const std::string_view value = collective::definition_of(*asked.begin()).nccl.environment;
  if (asked.size() > 1 || value.empty()) {
    fail_unsupported(fmt::format(
        "collectives: {}: NCCL_ALGO is one for all communicators, so nothing but a tuner tells "
        "them "
        "apart (stepwright export --to nccl-tuner --plan); nearest: collectives library",
        plan::collective_algorithms_text(plan.collectives)));
  }
  return {{"NCCL_ALGO", std::string(value), "the plan's algorithm of collectives"}};
}

std::vector<EnvironmentSetting> needed_environment_settings(const plan::PlannedJob& planned) {
  const auto here = [&](plan::FrameworkDefaultCondition it) {
    return plan::default_condition_applies(it, planned.job, planned.plan);
  };
  std::vector<EnvironmentSetting> settings;
  for (const plan::FrameworkEnvironmentVariable& one :
       plan::framework_defaults(planned.job.framework).environment) {
    if (!std::ranges::all_of(one.when, here) || std::ranges::any_of(one.unless, here)) continue;
    settings.push_back({one.name, one.value, one.reason});
  }
  for (EnvironmentSetting& setting : nccl_algorithm_settings(planned))
    settings.push_back(std::move(setting));
  return settings;
}

std::string environment_shell_lines(const std::vector<EnvironmentSetting>& settings) {
  std::string text;
  for (const auto& [name, value, reason] : settings) {
    const std::string why = as_comment_line(reason);
    text += value.empty() ? fmt::format("unset {}  {}\n", name, why)
                          : fmt::format("export {}={}  {}\n", name, in_shell_quotes(value), why);
  }
  return text;
}

}  // namespace stepwright::framework_files
