#include "stepwright/plan/laws/legality.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cstddef>
#include <span>

#include "stepwright/core/error.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright::plan {
namespace {

/// Returns the laws in the order of their checks, which is the order of `Rule`.
std::array<std::span<const PlanRuleDefinition>, 10> all_laws() {
  return {rank_grid_rules(),
          tensor_and_context_rules(),
          expert_parallelism_rules(),
          model_block_collective_rules(),
          not_implemented_plan_rules(),
          pipeline_schedule_rules(),
          state_sharding_rules(),
          data_collective_rules(),
          recompute_and_type_rules(),
          host_offload_rules()};
}

const PlanRuleDefinition& law_of(PlanLegalityRule rule) {
  assert(rule < PlanLegalityRule::kCount);
  const auto groups = all_laws();
  auto place = static_cast<std::size_t>(rule);
  auto group = groups.begin();
  for (; place >= group->size(); ++group) place -= group->size();
  return (*group)[place];
}

/// Returns the first broken law; null if there is none.
const PlanRuleDefinition* broken_law(const Job& job, const Plan& plan) {
  for (const auto laws : all_laws()) {
    for (const PlanRuleDefinition& law : laws) {
      if (law.broken(job, plan)) return &law;
    }
  }
  return nullptr;
}

/// Returns the first of the rules `first` to `last` in `laws` that a plan breaks, whatever other
/// rules it breaks.
std::optional<PlanLegalityRule> first_broken_between(std::span<const PlanRuleDefinition> laws,
                                                     PlanLegalityRule first, PlanLegalityRule last,
                                                     const Job& job, const Plan& plan) {
  for (const PlanRuleDefinition& law : laws) {
    if (law.rule >= first && law.rule <= last && law.broken(job, plan)) return law.rule;
  }
  return std::nullopt;
}

PlanRejection rejected(const Job& job, const Plan& plan, const PlanRuleDefinition& law) {
  NearestLegalPlanSearch repairs(job, plan, law.rule);
  law.repair(repairs);
  return {law.rule,
          fmt::format("{}: {}; {}", law.name, law.values(job, plan),
                      repairs.nearest_legal_plans_text()),
          repairs.found()};
}

}  // namespace

std::string_view plan_rule_name(PlanLegalityRule rule) { return law_of(rule).name; }

std::string_view plan_rule_sentence(PlanLegalityRule rule) { return law_of(rule).sentence; }

std::optional<PlanLegalityRule> first_broken_rule(const Job& job, const Plan& plan) {
  const PlanRuleDefinition* law = broken_law(job, plan);
  if (law == nullptr) return std::nullopt;
  return law->rule;
}

std::optional<PlanLegalityRule> first_broken_recompute_rule(const Job& job, const Plan& plan) {
  return first_broken_between(recompute_and_type_rules(), PlanLegalityRule::kRecomputeEvery,
                              PlanLegalityRule::kRecomputeStages, job, plan);
}

std::optional<PlanLegalityRule> first_broken_sharding_rule(const Job& job, const Plan& plan) {
  return first_broken_between(state_sharding_rules(), PlanLegalityRule::kShardingStrategy,
                              PlanLegalityRule::kExpertShardingGroup, job, plan);
}

std::optional<PlanRejection> find_plan_rejection(const Job& job, const Plan& plan) {
  const PlanRuleDefinition* law = broken_law(job, plan);
  if (law == nullptr) return std::nullopt;
  return rejected(job, plan, *law);
}

std::vector<PlanRejection> illegal_job_reasons(const Job& job) {
  std::vector<PlanRejection> found;
  const Plan any;
  for (const auto laws : all_laws()) {
    for (const PlanRuleDefinition& law : laws) {
      if (law.of_job && law.broken(job, any)) found.push_back(rejected(job, any, law));
    }
  }
  return found;
}

void fail_rejected_plan(const PlanRejection& refused, std::string_view where) {
  const std::string message =
      where.empty() ? refused.message : fmt::format("{}: {}", where, refused.message);
  const InputErrorPlace place{.file = std::string(where)};
  if (law_of(refused.rule).not_covered) fail_unsupported(message, place);
  fail_input(message, place);
}

}  // namespace stepwright::plan
