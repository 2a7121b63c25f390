#include <fmt/format.h>

#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/overlap_table.h"

// Laws against plans that files can express but no builder writes yet. Each law is removed when a
// builder covers its plans.

namespace stepwright::plan {
namespace {

bool unfused_context(const Job& job, const Plan& plan) {
  return job.kernels.attention == cluster::AttentionKernel::kUnfused && plan.parallel.context > 1 &&
         plan.context_kind != ContextKind::kUlysses;
}

std::string unfused_context_values(const Job& /*job*/, const Plan& plan) {
  return "kernels.attention is unfused and context_kind " +
         std::string(name_of(kContextKindNames, plan.context_kind)) +
         ": scores of a part of the keys are not supported yet";
}

void repair_unfused_context(NearestLegalPlanSearch& repairs) {
  Plan ulysses = repairs.plan();
  ulysses.context_kind = ContextKind::kUlysses;
  repairs.propose_plans({ulysses});
  repairs.propose_values(kContextKnob, {1});
}

/// True if a pipeline splits a model whose first layers have no backward: a position with only such
/// layers would wait for no gradient.
bool cuts_resting_layers(const Job& job, const Plan& plan) {
  return plan.parallel.pipeline > 1 && job.model.has_frozen_weights() &&
         job.model.layer_class(0).gradients == model::LayerGradientFlow::kAbove;
}

std::string frozen_step_values(const Job& /*job*/, const Plan& plan) {
  return "pipeline " + std::to_string(plan.parallel.pipeline) +
         " splits layers that have no backward, which is not supported yet";
}

void repair_frozen_step(NearestLegalPlanSearch& repairs) {
  repairs.propose_values(kPipelineKnob, {1});
}

/// True if a model with multi-token layers has more than a look-up in its embedding (positions, a
/// norm), or is partly frozen.
bool uncovered_multi_token(const Job& job, const Plan& /*plan*/) {
  const bool plain = job.model.position == model::PositionEncoding::kRope ||
                     job.model.position == model::PositionEncoding::kNone;
  return job.model.extra_predicted_tokens() > 0 &&
         (!plain || job.model.embedding_norm || job.model.has_frozen_weights());
}

std::string multi_token_values(const Job& job, const Plan& /*plan*/) {
  return "model.count_multi_token with position " +
         std::string(name_of(model::kPositionNames, job.model.position)) +
         (job.model.embedding_norm ? " and a norm of the embedding" : "") +
         ": multi-token layers that add more to embedded tokens are not supported yet";
}

void leave_multi_token_out(NearestLegalPlanSearch& repairs) {
  repairs.set_job_change_advice("nearest legal: model.count_multi_token false");
}

/// True if a deferred head gradient meets a loss in chunks, which computes it chunk by chunk, or
/// multi-token layers, which add to it after the head.
bool defers_part_of_head(const Job& job, const Plan& plan) {
  if (!effective_overlap_flags(job, plan).defer_embedding_gradient) return false;
  return job.kernels.loss_chunks != 1 || job.kernels.loss_keeps != LossSavedTensors::kLogits ||
         job.model.extra_predicted_tokens() > 0;
}

std::string deferred_head_values(const Job& job, const Plan& /*plan*/) {
  return fmt::format(
      "overlap.defer_embedding_gradient is true with kernels.loss_chunks {}, kernels.loss_keeps {} "
      "and {} multi-token layers",
      job.kernels.loss_chunks, name_of(kLossSavedTensorsNames, job.kernels.loss_keeps),
      job.model.extra_predicted_tokens());
}

void repair_deferred_head(NearestLegalPlanSearch& repairs) {
  Plan at_once = repairs.plan();
  at_once.overlap.defer_embedding_gradient = false;
  repairs.propose_plans({at_once});
}

constexpr PlanRuleDefinition kCoverageLaws[] = {
    {PlanLegalityRule::kUnfusedContext, "unfused-attention-context",
     "unfused attention has context above 1 only as ulysses (the others are not covered yet)",
     unfused_context, unfused_context_values, repair_unfused_context, /*of_job=*/false,
     /*not_covered=*/true},
    {PlanLegalityRule::kFrozenStep, "frozen-step",
     "pipeline is 1 where whole layers have no backward (others are not covered yet)",
     cuts_resting_layers, frozen_step_values, repair_frozen_step, /*of_job=*/false,
     /*not_covered=*/true},
    {PlanLegalityRule::kMultiTokenStep, "multi-token-step",
     "multi-token layers embed tokens without positions or a norm, and all weights are trained "
     "(others are not covered yet)",
     uncovered_multi_token, multi_token_values, leave_multi_token_out, /*of_job=*/true,
     /*not_covered=*/true},
    {PlanLegalityRule::kDeferredHead, "deferred-head",
     "the head's weight gradients wait for the drain where the loss is taken of whole logits and "
     "no "
     "multi-token layers stand behind the head (others are not covered yet)",
     defers_part_of_head, deferred_head_values, repair_deferred_head, /*of_job=*/false,
     /*not_covered=*/true}};

}  // namespace

std::span<const PlanRuleDefinition> not_implemented_plan_rules() { return kCoverageLaws; }

}  // namespace stepwright::plan
