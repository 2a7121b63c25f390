#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright::plan {
namespace {

// --- Laws of sharding. ---

bool no_strategy(const Job& /*job*/, const Plan& plan) { return !is_paro_strategy(plan.sharding); }

std::string strategy_values(const Job& /*job*/, const Plan& plan) {
  return fmt::format(
      "sharding {} splits the optimizer states less finely than parameters or gradients",
      sharding_letters(plan.sharding));
}

void repair_strategy(NearestLegalPlanSearch& repairs) {
  Plan finer = repairs.plan();
  Sharding& up = finer.sharding;
  up.optimizer = std::max(up.parameters, up.gradients);
  Plan coarser = repairs.plan();
  Sharding& down = coarser.sharding;
  down.parameters = std::min(down.parameters, down.optimizer);
  down.gradients = std::min(down.gradients, down.optimizer);
  repairs.propose_plans({finer, coarser});
}

bool group_cut(const Job& /*job*/, const Plan& plan) {
  if (plan.sharding.group == 1) return false;
  if (!plan.sharding.uses(StateShardingScope::kInner)) return true;
  return !cut_into_rank_runs(data_context_rank_factors(grid_axes(plan.parallel, plan.rank_order)),
                             plan.sharding.group);
}

std::string group_values(const Job& /*job*/, const Plan& plan) {
  const Sharding& sharding = plan.sharding;
  if (!sharding.uses(StateShardingScope::kInner)) {
    return fmt::format("group {} has no effect in {}, which splits nothing inside groups",
                       sharding.group, sharding_letters(sharding));
  }
  return fmt::format("group {} does not cut context {} x data {} into equal runs of ranks",
                     sharding.group, plan.parallel.context, plan.parallel.data);
}

void repair_group(NearestLegalPlanSearch& repairs) {
  if (!repairs.plan().sharding.uses(StateShardingScope::kInner))
    return repairs.propose_values(kGroupKnob, {1});
  repairs.propose_values(kGroupKnob, legal_sharding_group_sizes(repairs.plan()));
}

bool expert_group_cut(const Job& job, const Plan& plan) {
  if (plan.sharding.expert_group == 1) return false;
  if (!plan.sharding.uses(StateShardingScope::kInner) || !job.model.experts) return true;
  return plan.parallel.expert_data_degree() % plan.sharding.expert_group != 0;
}

std::string expert_group_values(const Job& job, const Plan& plan) {
  const Sharding& sharding = plan.sharding;
  if (!job.model.experts) {
    return fmt::format("expert_group is {}, but {} has no experts", sharding.expert_group,
                       job.model_name);
  }
  if (!sharding.uses(StateShardingScope::kInner)) {
    return fmt::format("expert_group {} has no effect in {}, which splits nothing inside groups",
                       sharding.expert_group, sharding_letters(sharding));
  }
  return fmt::format("expert_group {} does not divide the {} ranks that hold the same experts",
                     sharding.expert_group, plan.parallel.expert_data_degree());
}

void repair_expert_group(NearestLegalPlanSearch& repairs) {
  const bool used =
      repairs.plan().sharding.uses(StateShardingScope::kInner) && repairs.job().model.experts;
  if (!used) return repairs.propose_values(kExpertGroupKnob, {1});
  repairs.propose_values(kExpertGroupKnob, legal_expert_sharding_group_sizes(repairs.plan()));
}

// --- Laws of recomputation and types. ---

/// True if any position's recomputation passes a test.
template <class Test>
bool any_setting(const ActivationRecomputation& recompute, Test test) {
  bool any = false;
  each_setting(recompute,
               [&](const ActivationRecomputation& setting) { any = any || test(setting); });
  return any;
}

/// Returns the plan with the recomputation of each position changed.
template <class Change>
Plan with_settings(Plan plan, Change change) {
  change(plan.recompute);
  for (StageRecompute& stage : plan.recompute.stages) change(stage);
  return plan;
}

bool wrong_every(const Job& /*job*/, const Plan& plan) {
  return any_setting(plan.recompute, [](const ActivationRecomputation& setting) {
    return setting.every < 1 || setting.first < 0;
  });
}

std::string every_values(const Job& /*job*/, const Plan& plan) {
  std::int64_t least = 1;
  each_setting(plan.recompute, [&](const ActivationRecomputation& setting) {
    least = std::min(least, setting.every);
  });
  return fmt::format("recompute every {} layers; it is at least 1", least);
}

void repair_every(NearestLegalPlanSearch& repairs) {
  repairs.propose_plans({with_settings(repairs.plan(), [](auto& setting) {
    setting.every = std::max<std::int64_t>(1, setting.every);
  })});
}

bool absent_modules(const Job& job, const Plan& plan) {
  return any_setting(plan.recompute, [&](const ActivationRecomputation& setting) {
    const RecomputeModuleSet listed = setting.modules;
    return setting.kind == RecomputeKind::kModules &&
           (listed.empty() || modules_existing_in_model(job.model, listed) != listed);
  });
}

std::string module_values(const Job& job, const Plan& plan) {
  RecomputeModuleSet absent;
  each_setting(plan.recompute, [&](const ActivationRecomputation& setting) {
    absent.add(
        setting.modules.modules_not_in(modules_existing_in_model(job.model, setting.modules)));
  });
  if (absent.empty()) return "recompute lists no module";
  return fmt::format("{} has no {} to recompute", job.model.name,
                     fmt::join(recompute_module_names(absent), ", "));
}

void repair_modules(NearestLegalPlanSearch& repairs) {
  repairs.propose_plans({with_settings(repairs.plan(), [&](auto& setting) {
    setting.modules = modules_existing_in_model(repairs.job().model, setting.modules);
    if (setting.kind != RecomputeKind::kModules || !setting.modules.empty()) return;
    setting.kind = RecomputeKind::kNone;
    setting.every = 1;
    setting.first = 0;
  })});
}

bool absent_stages(const Job& /*job*/, const Plan& plan) {
  return std::ranges::any_of(plan.recompute.stages, [&](const StageRecompute& stage) {
    return stage.position < 0 || stage.position >= plan.parallel.pipeline;
  });
}

std::string stage_values(const Job& /*job*/, const Plan& plan) {
  std::vector<std::int64_t> absent;
  for (const StageRecompute& stage : plan.recompute.stages) {
    const bool there = stage.position >= 0 && stage.position < plan.parallel.pipeline;
    if (!there) absent.push_back(stage.position);
  }
  return fmt::format("recompute names stage {}, but the pipeline has stages 0 to {}",
                     fmt::join(absent, ", "), plan.parallel.pipeline - 1);
}

void repair_named_stages(NearestLegalPlanSearch& repairs) {
  repairs.propose_plans({repairs.plan()});
}

bool is_precision(DType type) { return type <= DType::kNvfp4; }

bool no_rate(const Job& job, const Plan& /*plan*/) {
  const auto& rates = job.cluster.device.peak_flops;
  const auto rate = rates.find(job.precision);
  return !is_precision(job.precision) || rate == rates.end() || !(rate->second > 0);
}

std::string precision_values(const Job& job, const Plan& /*plan*/) {
  return fmt::format("{} has no rate for {}", job.cluster.device.name,
                     name_of(kDTypeNames, job.precision));
}

void repair_precision(NearestLegalPlanSearch& repairs) {
  std::vector<std::string_view> names;
  for (const auto& [type, rate] : repairs.job().cluster.device.peak_flops) {
    if (is_precision(type) && rate > 0) names.push_back(name_of(kDTypeNames, type));
  }
  repairs.set_job_change_advice(
      fmt::format("nearest legal: precision {}", fmt::join(names, " or ")));
}

/// Bits of a type in which gradients can be stored; 0 for other types.
std::int64_t accumulator_bits(DType type) {
  return is_precision(type) && parameter_storage_type(type) == type
             ? element_size_centibits(type) / 100
             : 0;
}

bool narrow_accumulate(const Job& job, const Plan& plan) {
  const DType stored = parameter_storage_type(job.precision);
  return plan.accumulate != stored && accumulator_bits(plan.accumulate) <= accumulator_bits(stored);
}

std::string accumulate_values(const Job& job, const Plan& plan) {
  return fmt::format("gradients stored as {} are not accumulated in {}",
                     name_of(kDTypeNames, parameter_storage_type(job.precision)),
                     name_of(kDTypeNames, plan.accumulate));
}

void repair_accumulate(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  plan.accumulate = default_accumulation_type(repairs.job().precision);
  repairs.propose_plans({plan});
}

constexpr PlanRuleDefinition kStateLaws[] = {
    {PlanLegalityRule::kShardingStrategy, "sharding-strategy",
     "the sharding is one of the fourteen strategies", no_strategy, strategy_values,
     repair_strategy},
    {PlanLegalityRule::kShardingGroup, "sharding-group",
     "the sharding group cuts data x context into equal runs; 1 unless it has a use", group_cut,
     group_values, repair_group},
    {PlanLegalityRule::kExpertShardingGroup, "expert-sharding-group",
     "the expert sharding group cuts the experts' data group into equal runs; 1 unless it has a "
     "use",
     expert_group_cut, expert_group_values, repair_expert_group}};

constexpr PlanRuleDefinition kTypeLaws[] = {
    {PlanLegalityRule::kRecomputeEvery, "recompute-every",
     "recomputing every n-th layer needs n of at least 1", wrong_every, every_values, repair_every},
    {PlanLegalityRule::kRecomputeModules, "recompute-modules",
     "recomputed modules must be ones that the model has", absent_modules, module_values,
     repair_modules},
    {PlanLegalityRule::kRecomputeStages, "recompute-stages",
     "recomputation names stages that the pipeline has", absent_stages, stage_values,
     repair_named_stages},
    {PlanLegalityRule::kPrecision, "precision", "the device has a peak rate for the precision",
     no_rate, precision_values, repair_precision, /*of_job=*/true},
    {PlanLegalityRule::kAccumulate, "accumulate",
     "gradients add up in the type they are stored in or in a wider one", narrow_accumulate,
     accumulate_values, repair_accumulate}};

}  // namespace

std::span<const PlanRuleDefinition> state_sharding_rules() { return kStateLaws; }

std::span<const PlanRuleDefinition> recompute_and_type_rules() { return kTypeLaws; }

}  // namespace stepwright::plan
