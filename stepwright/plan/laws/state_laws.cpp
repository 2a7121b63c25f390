#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright {
namespace {

// --- Sharding. ---

bool no_strategy(const Job& /*job*/, const Plan& plan) { return !is_paro_strategy(plan.sharding); }

std::string strategy_values(const Job& /*job*/, const Plan& plan) {
  return fmt::format(
      "sharding {} splits the optimizer states less finely than parameters or gradients",
      sharding_word(plan.sharding));
}

void repair_strategy(Repairs& repairs) {
  Plan finer = repairs.plan();
  Sharding& up = finer.sharding;
  up.optimizer = std::max(up.parameters, up.gradients);
  Plan coarser = repairs.plan();
  Sharding& down = coarser.sharding;
  down.parameters = std::min(down.parameters, down.optimizer);
  down.gradients = std::min(down.gradients, down.optimizer);
  repairs.plans({finer, coarser});
}

bool group_cut(const Job& /*job*/, const Plan& plan) {
  if (plan.sharding.group == 1) return false;
  if (!plan.sharding.uses(Spread::kInner)) return true;
  return !cut(data_context_extents(grid_axes(plan.parallel, plan.rank_order)), plan.sharding.group);
}

std::string group_values(const Job& /*job*/, const Plan& plan) {
  const Sharding& sharding = plan.sharding;
  if (!sharding.uses(Spread::kInner)) {
    return fmt::format("group {} has no use in {}, which splits nothing inside groups",
                       sharding.group, sharding_word(sharding));
  }
  return fmt::format("group {} does not cut context {} x data {} into equal runs of ranks",
                     sharding.group, plan.parallel.context, plan.parallel.data);
}

void repair_group(Repairs& repairs) {
  if (!repairs.plan().sharding.uses(Spread::kInner)) return repairs.values(kGroupKnob, {1});
  repairs.values(kGroupKnob, legal_sharding_groups(repairs.plan()));
}

bool expert_group_cut(const Job& job, const Plan& plan) {
  if (plan.sharding.expert_group == 1) return false;
  if (!plan.sharding.uses(Spread::kInner) || !job.model.experts) return true;
  return plan.parallel.expert_data() % plan.sharding.expert_group != 0;
}

std::string expert_group_values(const Job& job, const Plan& plan) {
  const Sharding& sharding = plan.sharding;
  if (!job.model.experts) {
    return fmt::format("expert_group {}, and {} has no experts", sharding.expert_group,
                       job.model_name);
  }
  if (!sharding.uses(Spread::kInner)) {
    return fmt::format("expert_group {} has no use in {}, which splits nothing inside groups",
                       sharding.expert_group, sharding_word(sharding));
  }
  return fmt::format("expert_group {} does not divide the {} ranks that hold the same experts",
                     sharding.expert_group, plan.parallel.expert_data());
}

void repair_expert_group(Repairs& repairs) {
  const bool used = repairs.plan().sharding.uses(Spread::kInner) && repairs.job().model.experts;
  if (!used) return repairs.values(kExpertGroupKnob, {1});
  repairs.values(kExpertGroupKnob, legal_expert_groups(repairs.plan()));
}

// --- Recomputation and types. ---

bool wrong_every(const Job& /*job*/, const Plan& plan) { return plan.recompute.every < 1; }

std::string every_values(const Job& /*job*/, const Plan& plan) {
  return fmt::format("recompute every {} layers; it is at least 1", plan.recompute.every);
}

void repair_every(Repairs& repairs) {
  Plan plan = repairs.plan();
  plan.recompute.every = 1;
  repairs.plans({plan});
}

bool absent_modules(const Job& job, const Plan& plan) {
  if (plan.recompute.kind != RecomputeKind::kModules) return false;
  const ModuleSet held = held_modules(job.model, plan.recompute.modules);
  return held.empty() || held != plan.recompute.modules;
}

std::string module_values(const Job& job, const Plan& plan) {
  const ModuleSet listed = plan.recompute.modules;
  const ModuleSet absent = listed.without(held_modules(job.model, listed));
  if (absent.empty()) return "recompute lists no module";
  return fmt::format("{} has no {} to recompute", job.model.name,
                     fmt::join(module_words(absent), ", "));
}

void repair_modules(Repairs& repairs) {
  Plan plan = repairs.plan();
  plan.recompute.modules = held_modules(repairs.job().model, plan.recompute.modules);
  if (plan.recompute.modules.empty()) plan.recompute = {};
  repairs.plans({plan});
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

void repair_precision(Repairs& repairs) {
  std::vector<std::string_view> names;
  for (const auto& [type, rate] : repairs.job().cluster.device.peak_flops) {
    if (is_precision(type) && rate > 0) names.push_back(name_of(kDTypeNames, type));
  }
  repairs.job_change(fmt::format("nearest legal: precision {}", fmt::join(names, " or ")));
}

/// Bits of a type that gradients can be stored in; 0 for the others.
std::int64_t accumulator_bits(DType type) {
  return is_precision(type) && storage_type(type) == type ? centibits(type) / 100 : 0;
}

bool narrow_accumulate(const Job& job, const Plan& plan) {
  const DType stored = storage_type(job.precision);
  return plan.accumulate != stored && accumulator_bits(plan.accumulate) <= accumulator_bits(stored);
}

std::string accumulate_values(const Job& job, const Plan& plan) {
  return fmt::format("gradients stored as {} are not accumulated in {}",
                     name_of(kDTypeNames, storage_type(job.precision)),
                     name_of(kDTypeNames, plan.accumulate));
}

void repair_accumulate(Repairs& repairs) {
  Plan plan = repairs.plan();
  plan.accumulate = default_accumulate(repairs.job().precision);
  repairs.plans({plan});
}

constexpr Law kStateLaws[] = {
    {Rule::kShardingStrategy, no_strategy, strategy_values, repair_strategy},
    {Rule::kShardingGroup, group_cut, group_values, repair_group},
    {Rule::kExpertShardingGroup, expert_group_cut, expert_group_values, repair_expert_group}};

constexpr Law kTypeLaws[] = {
    {Rule::kRecomputeEvery, wrong_every, every_values, repair_every},
    {Rule::kRecomputeModules, absent_modules, module_values, repair_modules},
    {Rule::kPrecision, no_rate, precision_values, repair_precision, true},
    {Rule::kAccumulate, narrow_accumulate, accumulate_values, repair_accumulate}};

}  // namespace

std::span<const Law> state_laws() { return kStateLaws; }

std::span<const Law> type_laws() { return kTypeLaws; }

}  // namespace stepwright
