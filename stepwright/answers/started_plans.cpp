#include "stepwright/answers/started_plans.h"

#include <algorithm>
#include <cstdint>

#include "stepwright/core/parallel.h"

namespace stepwright::answers {

using framework_files::importable_and_exportable_frameworks;

LaunchablePlans::Started& LaunchablePlans::started(const plan::Plan& plan) {
  const auto found = std::ranges::find(plans_, plan, &std::pair<plan::Plan, Started>::first);
  if (found != plans_.end()) return found->second;
  return plans_.emplace_back(plan, Started(importable_and_exportable_frameworks().size())).second;
}

bool LaunchablePlans::does_framework_start_plan(std::size_t place, const plan::Plan& plan) {
  std::optional<bool>& known = started(plan)[place];
  if (!known)
    known = framework_files::plan_not_run_unchanged_reason(
                importable_and_exportable_frameworks()[place], {job_, plan})
                .empty();
  return *known;
}

void LaunchablePlans::export_plans_into_cache(const std::vector<std::optional<plan::Plan>>& plans,
                                              int threads) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i] && !started(*plans[i])[i]) open.push_back(i);
  }
  std::vector<std::uint8_t> start(open.size());
  parallel_for(threads, open.size(), [&](std::size_t k) {
    const std::size_t i = open[k];
    start[k] = framework_files::plan_not_run_unchanged_reason(
                   importable_and_exportable_frameworks()[i], {job_, *plans[i]})
                       .empty()
                   ? 1
                   : 0;
  });
  for (std::size_t k = 0; k < open.size(); ++k) started(*plans[open[k]])[open[k]] = start[k] != 0;
}

std::vector<std::string> LaunchablePlans::frameworks_running_exported_plan(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < importable_and_exportable_frameworks().size(); ++i) {
    if (does_framework_start_plan(i, plan))
      names.emplace_back(importable_and_exportable_frameworks()[i].framework_or_variant_name());
  }
  return names;
}

const std::vector<tune::NearestFrameworkPlan>* LaunchablePlans::cached_nearest_framework_plans(
    const plan::Plan& plan) const {
  for (const auto& [of, runs] : runs_) {
    if (of == plan) return &runs;
  }
  return nullptr;
}

const std::vector<tune::NearestFrameworkPlan>& LaunchablePlans::cache_nearest_framework_plans(
    const plan::Plan& plan, std::vector<tune::NearestFrameworkPlan> runs) {
  return runs_.emplace_back(plan, std::move(runs)).second;
}

}  // namespace stepwright::answers
