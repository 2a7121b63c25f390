#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright::plan {

/// One rule that legal plans obey: its name, its text, its test and its repairs. To add a rule, add
/// an enumerator to `PlanLegalityRule` and a row at the same place of a table. `broken` may assume
/// that all earlier rules hold; it allocates no memory.
struct PlanRuleDefinition {
  PlanLegalityRule rule;
  /// Name of a rule for legal plans, as messages print it: "heads-per-tensor".
  std::string_view name;
  /// Text of a rule for legal plans: a sentence without full stop that says what it demands.
  std::string_view sentence;
  bool (*broken)(const Job& job, const Plan& plan);
  /// Returns a sentence that states the values of a plan which break this rule for legal plans, for
  /// error messages.
  std::string (*values)(const Job& job, const Plan& plan);
  /// Proposes changed plans that obey this rule for legal plans, nearest first.
  void (*repair)(NearestLegalPlanSearch& repairs);
  /// True if the rule depends only on the job, so that all plans of a job break it or none.
  bool of_job = false;
  /// True if plans that break the rule make sense but no code covers them yet (`kUnsupported`);
  /// false: they are impossible (`kInput`).
  bool not_covered = false;
};

// Concatenated in this order, these tables are all rules in the order of `PlanLegalityRule`.
/// Returns the rules on degrees, number of ranks and rank order.
std::span<const PlanRuleDefinition> rank_grid_rules();
/// Returns the rules on tensor and context parallelism and on the sequence length.
std::span<const PlanRuleDefinition> tensor_and_context_rules();
std::span<const PlanRuleDefinition>
expert_parallelism_rules();  ///< Returns the rules on expert parallelism.
/// Returns the rules on collective algorithms of tensor, context and expert parallelism.
std::span<const PlanRuleDefinition> model_block_collective_rules();
/// Returns the rules that forbid plans for which no code can build a step yet.
std::span<const PlanRuleDefinition> not_implemented_plan_rules();
/// Returns the rules on pipeline stages, chunks and micro-batches.
std::span<const PlanRuleDefinition> pipeline_schedule_rules();
std::span<const PlanRuleDefinition>
state_sharding_rules();  ///< Returns the rules on sharding of model states.
/// Returns the rules on collective algorithms of data parallelism and sharding.
std::span<const PlanRuleDefinition> data_collective_rules();
std::span<const PlanRuleDefinition>
recompute_and_type_rules();  ///< Returns the rules on recomputation and data types.
/// Returns the rules on offload of states and activations to host memory.
std::span<const PlanRuleDefinition> host_offload_rules();

/// True if a tensor-parallel degree divides a model's heads, key-value heads (unless attention is
/// latent) and heads of recurrent mixers. With `FrameworkKernels::gathered_heads` the degree may
/// also be a multiple of the key-value heads.
bool splits_heads_evenly(const Job& job, std::int64_t tensor);

}  // namespace stepwright::plan
