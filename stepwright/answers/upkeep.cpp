#include "stepwright/answers/upkeep.h"

#include <algorithm>
#include <utility>

#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/tune/alternatives.h"

namespace stepwright::answers {
namespace {

/// Returns the plan with equal degrees, micro-batch and recomputation, and all other choices as in
/// the framework's recipe.
plan::Plan recipe_plan(const plan::Job& job, const plan::Plan& plan) {
  const plan::FrameworkDefaults& defaults = plan::framework_defaults(job.framework);
  plan::Plan recipe;
  recipe.parallel = plan.parallel;
  recipe.micro_batch = plan.micro_batch;
  recipe.recompute = plan.recompute;
  recipe.gradient_bucket = plan.gradient_bucket;
  recipe.parameter_bucket = plan.parameter_bucket;
  recipe.sharding = defaults.recipe_sharding;
  recipe.sharding.group = plan.sharding.group;
  recipe.sharding.expert_group = plan.sharding.expert_group;
  recipe.sequence_parallel = defaults.recipe_sequence_parallel && plan.parallel.tensor > 1;
  recipe.tensor_input = plan::default_gathered_input_policy(job);
  recipe.layers = plan::default_stage_layers(job, recipe);
  recipe.accumulate = plan::default_gradient_type(job, recipe);
  recipe.overlap = plan::default_overlap(job, recipe);
  return recipe;
}

}  // namespace

PlanComplexity complexity_of_running_plan(const plan::Job& job, const plan::Plan& plan) {
  const plan::Plan recipe = recipe_plan(job, plan);
  PlanComplexity upkeep{.kinds = tune::parallelism_kind_count(plan.parallel),
                        .recomputes = plan.recompute != plan::ActivationRecomputation()};
  plan::each_choice([&](const auto& choice) {
    const auto matters = choice.traits.matters;
    if (matters != nullptr && !matters(job, plan)) return;
    if (choice.of(plan) != choice.of(recipe)) ++upkeep.moves;
  });
  return upkeep;
}

std::size_t move_simplest_of_fastest_plans_first(const plan::Job& job,
                                                 std::vector<tune::TunedPlan>& plans) {
  std::vector<std::pair<PlanComplexity, tune::TunedPlan>> level;
  for (const tune::TunedPlan& tuned : plans) {
    if (tuned.step_time_s > (1 + kEqualStepTolerance) * plans.front().step_time_s) break;
    level.emplace_back(complexity_of_running_plan(job, tuned.plan), tuned);
  }
  std::ranges::stable_sort(level, {}, [](const auto& one) { return one.first; });
  for (std::size_t i = 0; i < level.size(); ++i) plans[i] = std::move(level[i].second);
  return level.size();
}

}  // namespace stepwright::answers
