#include "stepwright/tune/frameworks.h"

#include <algorithm>

namespace stepwright {

bool runs_there(const Job& job, const Dimensions& space, const Plan& plan) {
  return !space.framework || std::ranges::all_of(kAbilityNames, [&](const auto& entry) {
    return !of_plan(entry.value) || space.framework->runs(entry.value, job, plan);
  });
}

std::vector<Refusal> framework_refusals(const Dimensions& space, const Census& census) {
  std::vector<Refusal> refusals;
  for (std::size_t i = 0; i < kAbilities; ++i) {
    const std::int64_t count = census.not_run()[i];
    if (count == 0) continue;
    refusals.push_back(
        {std::string(kFrameworkRule), space.framework->sentence(static_cast<Ability>(i)), count});
  }
  return refusals;
}

std::vector<NearestRun> nearest_runs(const Job& job, const Plan& plan) {
  const std::vector<std::string_view> as_it_is = runs_on(job, plan);
  std::vector<NearestRun> all;
  NearestRun none;
  for (const std::string_view name : kFrameworkNames) {
    if (std::ranges::find(as_it_is, name) != as_it_is.end()) continue;
    const bool own = name == job.framework.name;
    const Framework framework = own ? job.framework : Framework{.name = std::string(name)};
    const std::optional<Plan> nearest = nearest_run(framework, job, plan);
    if (!nearest) {
      none.frameworks.push_back(name);
      continue;
    }
    auto same = std::ranges::find(all, nearest, &NearestRun::plan);
    if (same == all.end()) same = all.insert(all.end(), NearestRun{.plan = nearest});
    same->frameworks.push_back(name);
  }
  if (!none.frameworks.empty()) all.push_back(std::move(none));
  return all;
}

}  // namespace stepwright
