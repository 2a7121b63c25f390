#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/format.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/host_memory.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright::plan {
namespace {

bool offloads(const Plan& plan) { return plan.offload.optimizer != 0; }

bool asks_host(const Plan& plan) { return offloads(plan) || !plan.offload.activations.empty(); }

void repair_without(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  plan.offload = {};
  repairs.propose_plans({plan});
}

/// Returns the plan with all states in device memory; offloaded activations stay in host memory.
Plan without_states(Plan plan) {
  plan.offload = {.activations = plan.offload.activations};
  return plan;
}

void repair_without_states(NearestLegalPlanSearch& repairs) {
  repairs.propose_plans({without_states(repairs.plan())});
}

bool no_share(const Job& /*job*/, const Plan& plan) {
  const double share = plan.offload.optimizer;
  return !(share >= 0 && share <= 1);
}

std::string share_values(const Job& /*job*/, const Plan& plan) {
  return fmt::format("offload.optimizer is {}", plan.offload.optimizer);
}

void repair_share(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  plan.offload.optimizer = plan.offload.optimizer > 1 ? 1 : 0;
  repairs.propose_plans({plan});
}

bool absent_host_modules(const Job& job, const Plan& plan) {
  const OffloadModuleSet listed = plan.offload.activations;
  return modules_existing_in_model(job.model, listed) != listed;
}

std::string host_module_values(const Job& job, const Plan& plan) {
  const OffloadModuleSet listed = plan.offload.activations;
  const OffloadModuleSet absent =
      listed.activation_kinds_not_in(modules_existing_in_model(job.model, listed));
  return fmt::format("offload.activations: {} has no {}", job.model.name,
                     fmt::join(offloaded_activation_kind_names(absent), ", "));
}

void repair_host_modules(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  plan.offload.activations =
      modules_existing_in_model(repairs.job().model, plan.offload.activations);
  repairs.propose_plans({plan});
}

bool no_host_update(const Job& job, const Plan& plan) {
  return offloads(plan) && !traits_of(job.optimizer).can_offload;
}

std::string host_update_values(const Job& job, const Plan& plan) {
  std::vector<std::string_view> others;
  for (const auto& [optimizer, name] : kOptimizerNames) {
    if (traits_of(optimizer).can_offload) others.push_back(name);
  }
  return fmt::format("offload.optimizer {} with optimizer {}, while hosts update {}",
                     plan.offload.optimizer, name_of(kOptimizerNames, job.optimizer),
                     fmt::join(others, ", "));
}

/// True if parameters in host memory break the rule: the host must update all that it holds, and
/// all states must be sharded alike, with parameters gathered for each use (or on a rank without
/// data parallelism).
bool no_host_parameters(const Job& /*job*/, const Plan& plan) {
  const Sharding& sharding = plan.sharding;
  const bool alone = plan.parallel.data * plan.parallel.context == 1;
  const bool split = (alone || sharding.parameters != StateShardingScope::kNone) &&
                     sharding.parameters == sharding.gradients &&
                     sharding.parameters == sharding.optimizer;
  const bool updated_there = plan.offload.optimizer == 1 && plan.offload.masters;
  return plan.offload.parameters && !(split && updated_there);
}

std::string host_parameters_values(const Job& /*job*/, const Plan& plan) {
  return fmt::format("offload.parameters with {} and {:.3g}% of the optimizer{} on the host",
                     sharding_letters(plan.sharding), 100 * plan.offload.optimizer,
                     plan.offload.masters ? "" : ", but for masters,");
}

/// Proposes the sharding and the optimizer offload that parameters in host memory need, or
/// parameters in device memory.
void repair_parameters(NearestLegalPlanSearch& repairs) {
  Plan there = repairs.plan();
  Sharding& sharding = there.sharding;
  if (sharding.parameters == StateShardingScope::kNone)
    sharding.parameters = StateShardingScope::kGlobal;
  sharding.gradients = sharding.optimizer = sharding.parameters;
  there.offload.optimizer = 1;
  there.offload.masters = true;
  Plan here = repairs.plan();
  here.offload.parameters = false;
  repairs.propose_plans({there, here});
}

bool unknown_link(const Job& job, const Plan& plan) {
  return asks_host(plan) && job.cluster.device.host_link_bytes_per_s <= 0;
}

std::string link_values(const Job& job, const Plan& /*plan*/) {
  return fmt::format("offload on {}, which does not state cluster.device.host_link",
                     job.cluster.name);
}

bool too_little_host_memory(const Job& job, const Plan& plan) {
  const double memory = job.cluster.host.memory_bytes;
  return offloads(plan) && memory > 0 && min_host_memory_bytes(job, plan) > memory;
}

std::string host_memory_values(const Job& job, const Plan& plan) {
  return fmt::format("{:.3g}% of the optimizer need {} of host memory on a node, which has {}",
                     100 * plan.offload.optimizer, format_bytes(min_host_memory_bytes(job, plan)),
                     format_bytes(job.cluster.host.memory_bytes));
}

/// Proposes the largest whole percentage of the optimizer for which the host has memory.
void repair_host_memory(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  const double room = repairs.job().cluster.host.memory_bytes /
                      min_host_memory_bytes(repairs.job(), repairs.plan());
  plan.offload.optimizer = std::floor(100 * room * plan.offload.optimizer) / 100;
  plan.offload.parameters = false;
  if (plan.offload.optimizer == 0) plan = without_states(plan);
  repairs.propose_plans({plan});
}

constexpr PlanRuleDefinition kOffloadLaws[] = {
    {PlanLegalityRule::kOffloadShare, "offload-share",
     "the share of the optimizer on the host is from 0 to 1", no_share, share_values, repair_share},
    {PlanLegalityRule::kOffloadModules, "offload-modules",
     "modules whose activations lie on the host are ones that the model has", absent_host_modules,
     host_module_values, repair_host_modules},
    {PlanLegalityRule::kOffloadUpdate, "offload-update",
     "hosts do updates of adam, adamw, adam_bf16 and sgd (others are not covered yet)",
     no_host_update, host_update_values, repair_without_states, /*of_job=*/false,
     /*not_covered=*/true},
    {PlanLegalityRule::kOffloadParameters, "offload-parameters",
     "parameters on the host need strategy GGG or III, or one data rank, and the whole optimizer "
     "there",
     no_host_parameters, host_parameters_values, repair_parameters},
    {PlanLegalityRule::kOffloadHost, "offload-host", "offload needs the link to the host",
     unknown_link, link_values, repair_without},
    {PlanLegalityRule::kHostMemory, "host-memory",
     "what is offloaded fits in the memory of the hosts", too_little_host_memory,
     host_memory_values, repair_host_memory}};

}  // namespace

std::span<const PlanRuleDefinition> host_offload_rules() { return kOffloadLaws; }

}  // namespace stepwright::plan
