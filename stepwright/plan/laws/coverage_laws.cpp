#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"

// What the words of a plan can say and no builder writes yet. Each law goes when a builder comes.

namespace stepwright {
namespace {

bool unfused_context(const Job& job, const Plan& plan) {
  return job.kernels.attention == AttentionKernel::kUnfused && plan.parallel.context > 1 &&
         plan.context_kind != ContextKind::kUlysses;
}

std::string unfused_context_values(const Job& /*job*/, const Plan& plan) {
  return "kernels.attention is unfused and context_kind " +
         std::string(name_of(kContextKindNames, plan.context_kind)) +
         ": nothing covers scores of a part of the keys yet";
}

void repair_unfused_context(Repairs& repairs) {
  Plan ulysses = repairs.plan();
  ulysses.context_kind = ContextKind::kUlysses;
  repairs.plans({ulysses});
  repairs.values(kContextKnob, {1});
}

bool freezes(const Job& job, const Plan& /*plan*/) { return job.model.freezes(); }

std::string freezing_values(const Job& job, const Plan& /*plan*/) {
  const std::string_view key = job.model.adapters ? "adapters" : "frozen";
  return std::string(key) + " leaves weights untrained, and nothing covers its step yet";
}

void train_all(Repairs& repairs) { repairs.job_change("nearest legal: all weights are trained"); }

/// Multi-token layers embed tokens without what stands beside the look-up of the first embedding.
bool uncovered_multi_token(const Job& job, const Plan& /*plan*/) {
  const bool plain = job.model.position == Position::kRope || job.model.position == Position::kNone;
  return job.model.predicted_ahead() > 0 && (!plain || job.model.embedding_norm);
}

std::string multi_token_values(const Job& job, const Plan& /*plan*/) {
  return "model.count_multi_token with position " +
         std::string(name_of(kPositionNames, job.model.position)) +
         (job.model.embedding_norm ? " and a norm of the embedding" : "") +
         ": nothing covers multi-token layers that add more to embedded tokens yet";
}

void leave_multi_token_out(Repairs& repairs) {
  repairs.job_change("nearest legal: model.count_multi_token false");
}

constexpr Law kCoverageLaws[] = {
    {Rule::kUnfusedContext, unfused_context, unfused_context_values, repair_unfused_context},
    {Rule::kFrozenStep, freezes, freezing_values, train_all, true},
    {Rule::kMultiTokenStep, uncovered_multi_token, multi_token_values, leave_multi_token_out,
     true}};

}  // namespace

std::span<const Law> coverage_laws() { return kCoverageLaws; }

}  // namespace stepwright
