#include "stepwright/tune/frameworks.h"

#include <algorithm>

#include "stepwright/core/parallel.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/runnable_attention.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/evaluation.h"
#include "stepwright/tune/free_kernels.h"
#include "stepwright/tune/near_keys.h"

namespace stepwright::tune {

bool framework_supports_plan_unchanged(const plan::Job& job, const SearchSpaceDimensions& space,
                                       const plan::Plan& plan) {
  return !space.framework || space.framework->supports_plan(job, plan);
}

std::vector<PlanRefusalCount> framework_refusals(const SearchSpaceDimensions& space,
                                                 const LegalPlanCounter& enumeration) {
  std::vector<PlanRefusalCount> refusals;
  for (std::size_t i = 0; i < plan::kAbilities; ++i) {
    const std::int64_t count = enumeration.not_run()[i];
    if (count == 0) continue;
    refusals.push_back({std::string(kUnsupportedByFrameworkRule),
                        space.framework->supported_property_values_sentence(
                            static_cast<plan::FrameworkProperty>(i)),
                        count});
  }
  return refusals;
}

namespace {

NearestFrameworkPlan framework_run(const plan::TrainingFramework& framework, const plan::Job& job,
                                   const plan::Plan& plan) {
  plan::Job there = job;
  const bool own =
      framework.name == job.framework.name && framework.variant == job.framework.variant;
  if (!own) there.framework = framework;
  there.kernels = plan::configured_kernels(there);
  there.kernels.attention = plan::runnable_attention_kernel(there, plan);
  NearestFrameworkPlan run{
      .framework = framework.variant.empty() ? framework.name : framework.variant,
      .plan = plan::nearest_runnable_plan(there.framework, there, plan)};
  if (!run.plan) return run;
  const cost::CostModel cost(there);
  const TunedPlan tuned =
      simulate_plan(there, cost, *run.plan, simulate::PlanPricer(there, cost).price(*run.plan));
  run.attention = there.kernels.attention;
  run.price_s = tuned.price_s;
  run.step_time_s = tuned.step_time_s;
  run.fits = tuned.fits;
  run.verdict = tuned.verdict;
  return run;
}

}  // namespace

std::vector<NearestFrameworkPlan> nearest_framework_plans(
    const plan::Job& job, const plan::Plan& plan,
    std::span<const plan::TrainingFramework> frameworks, int threads) {
  std::vector<NearestFrameworkPlan> runs(frameworks.size());
  parallel_for(threads, runs.size(),
               [&](std::size_t i) { runs[i] = framework_run(frameworks[i], job, plan); });
  return runs;
}

double step_seconds_likely_found_by_search(const plan::Job& job, const plan::Plan& near) {
  const plan::Job chosen = with_fastest_attention_kernel(job);
  const SearchSpaceDimensions space = search_space_dimensions(chosen);
  return min_step_seconds_of_neighbour_plans(chosen, cost::CostModel(chosen), space, near,
                                             simulate::plan_memory_limit(chosen));
}

std::vector<NearestPlanGroup> group_frameworks_by_nearest_plan(
    const std::vector<NearestFrameworkPlan>& runs, const plan::Plan& plan) {
  std::vector<NearestPlanGroup> all;
  NearestPlanGroup none;
  for (const NearestFrameworkPlan& run : runs) {
    if (run.plan == plan) continue;
    if (!run.plan) {
      none.frameworks.push_back(run.framework);
      continue;
    }
    auto same = std::ranges::find(all, run.plan, &NearestPlanGroup::plan);
    if (same == all.end())
      same = all.insert(all.end(), NearestPlanGroup{.frameworks = {}, .plan = run.plan});
    same->frameworks.push_back(run.framework);
  }
  if (!none.frameworks.empty()) all.push_back(std::move(none));
  return all;
}

}  // namespace stepwright::tune
