#include <fmt/format.h>

#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright::plan {
namespace {

bool routed(const ParallelismDegrees& degrees) {
  return degrees.expert > 1 || degrees.expert_tensor > 1;
}

bool no_experts(const Job& job, const Plan& plan) {
  return !job.model.experts && routed(plan.parallel);
}

std::string no_experts_values(const Job& job, const Plan& plan) {
  return fmt::format("expert is {} and expert_tensor {}, but {} has no experts",
                     plan.parallel.expert, plan.parallel.expert_tensor, job.model_name);
}

void drop_expert_parallel(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  plan.parallel.expert = plan.parallel.expert_tensor = 1;
  repairs.propose_plans({plan});
}

bool experts_cut(const Job& job, const Plan& plan) {
  return job.model.experts && job.model.experts->count % plan.parallel.expert != 0;
}

std::string experts_values(const Job& job, const Plan& plan) {
  return fmt::format("{} experts are not a multiple of expert {}", job.model.experts->count,
                     plan.parallel.expert);
}

void repair_expert(NearestLegalPlanSearch& repairs) {
  repairs.propose_values(kExpertKnob, legal_expert_degrees(repairs.job()));
}

bool expert_ffn_cut(const Job& job, const Plan& plan) {
  return job.model.experts && job.model.experts->ffn % plan.parallel.expert_tensor != 0;
}

std::string expert_ffn_values(const Job& job, const Plan& plan) {
  return fmt::format("expert ffn {} is not a multiple of expert_tensor {}", job.model.experts->ffn,
                     plan.parallel.expert_tensor);
}

void repair_expert_tensor(NearestLegalPlanSearch& repairs) {
  repairs.propose_values(kExpertTensorKnob, legal_expert_tensor_degrees(repairs.job()));
}

bool grid_cut(const Job& /*job*/, const Plan& plan) {
  return plan.parallel.expert_data_degree() == 0;
}

std::string grid_values(const Job& /*job*/, const Plan& plan) {
  const auto& [tensor, pipeline, context, expert, expert_tensor, data] = plan.parallel;
  return fmt::format(
      "expert {} x expert_tensor {} do not divide tensor {} x context {} x data {} = {}", expert,
      expert_tensor, tensor, context, data, tensor * context * data);
}

void repair_grid(NearestLegalPlanSearch& repairs) {
  repair_expert(repairs);
  repair_expert_tensor(repairs);
  drop_expert_parallel(repairs);
}

bool duplicate_tokens(const Job& /*job*/, const Plan& plan) {
  return routed(plan.parallel) && plan.parallel.tensor > 1 && !plan.sequence_parallel;
}

std::string duplicate_tokens_values(const Job& /*job*/, const Plan& plan) {
  return fmt::format(
      "expert {} and expert_tensor {} with tensor {} need sequence_parallel: without it the tensor "
      "ranks route the same tokens",
      plan.parallel.expert, plan.parallel.expert_tensor, plan.parallel.tensor);
}

void repair_duplicate_tokens(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  plan.sequence_parallel = true;
  repairs.propose_plans({plan});
  drop_expert_parallel(repairs);
}

constexpr PlanRuleDefinition kExpertLaws[] = {
    {PlanLegalityRule::kExpertNeedsExperts, "expert-needs-experts",
     "expert or expert_tensor above 1 needs a model with experts", no_experts, no_experts_values,
     drop_expert_parallel},
    {PlanLegalityRule::kExpertDividesExperts, "experts-per-expert",
     "expert divides the number of experts", experts_cut, experts_values, repair_expert},
    {PlanLegalityRule::kExpertTensorDividesFfn, "expert-ffn-per-tensor",
     "expert_tensor divides the width of an expert", expert_ffn_cut, expert_ffn_values,
     repair_expert_tensor},
    {PlanLegalityRule::kExpertGridDivides, "expert-grid",
     "expert x expert_tensor divides tensor x context x data", grid_cut, grid_values, repair_grid},
    {PlanLegalityRule::kExpertNeedsSequenceParallel, "expert-needs-sequence-parallel",
     "expert or expert_tensor above 1 together with tensor above 1 needs sequence parallelism",
     duplicate_tokens, duplicate_tokens_values, repair_duplicate_tokens}};

}  // namespace

std::span<const PlanRuleDefinition> expert_parallelism_rules() { return kExpertLaws; }

}  // namespace stepwright::plan
