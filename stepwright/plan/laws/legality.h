#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The rules that a legal plan obeys, in the order of their checks; each check may assume that the
/// earlier rules hold. `plan_rule_sentence` gives the text of each.
enum class PlanLegalityRule : std::uint8_t {
  kPositive,
  kWorldSize,
  kRankOrder,
  kTensorDividesHeads,
  kTensorDividesFfn,
  kSequenceParallelNeedsTensor,
  kContextDividesLength,
  kUlyssesDividesHeads,
  kLengthDividesTensor,
  kLengthWithinPositions,
  kExpertNeedsExperts,
  kExpertDividesExperts,
  kExpertTensorDividesFfn,
  kExpertGridDivides,
  kExpertNeedsSequenceParallel,
  kTensorCollectives,
  kContextCollectives,
  kExpertCollectives,
  kUnfusedContext,
  kFrozenStep,
  kMultiTokenStep,
  kDeferredHead,
  kStagesWithinLayers,
  kLayerSplit,
  kChunksNeedInterleaving,
  kInterleavingNeedsChunks,
  kScheduleNeedsPipeline,
  kStrandsNeedPairs,
  kBatchDivides,
  kInterleavingNeedsGroups,
  kDualPipeEnds,
  kDualPipeMicroBatches,
  kVocabularyStep,
  kStrandsNeedMicroBatches,
  kStepPasses,
  kShardingStrategy,
  kShardingGroup,
  kExpertShardingGroup,
  kDataCollectives,
  kRecomputeEvery,
  kRecomputeModules,
  kRecomputeStages,
  kPrecision,
  kAccumulate,
  kOffloadShare,
  kOffloadModules,
  kOffloadUpdate,
  kOffloadParameters,
  kOffloadHost,
  kHostMemory,
  kCount
};
inline constexpr std::size_t kRules = static_cast<std::size_t>(PlanLegalityRule::kCount);

/// Returns the name of a rule: "heads-per-tensor".
std::string_view plan_rule_name(PlanLegalityRule rule);

/// Returns what a rule demands of a plan, as one sentence without full stop.
std::string_view plan_rule_sentence(PlanLegalityRule rule);

/// Why a plan is not legal, and the nearest legal plans.
struct PlanRejection {
  PlanLegalityRule rule{};
  /// Message for users: the broken rule, the values that break it, and the nearest legal plans.
  std::string message;
  /// Nearest legal plans (at most two, one with a smaller and one with a larger value), with
  /// dependent choices adapted. Empty if only the job can be changed, or no legal plan is near.
  std::vector<Plan> nearest;
};

/// Returns the first rule that a plan breaks; nullopt if it is legal. Accepts any values, and
/// checks arithmetic and structure but not memory. Allocates no memory.
std::optional<PlanLegalityRule> first_broken_rule(const Job& job, const Plan& plan);

/// Returns the first rule on recomputation that a plan breaks, whatever other rules it breaks;
/// nullopt if it breaks none.
std::optional<PlanLegalityRule> first_broken_recompute_rule(const Job& job, const Plan& plan);

/// Returns the first rule on sharding strategies and their groups that a plan breaks, whatever
/// other rules it breaks; nullopt if it breaks none.
std::optional<PlanLegalityRule> first_broken_sharding_rule(const Job& job, const Plan& plan);

/// Returns why a plan is not legal, with the nearest legal plans; nullopt if it is legal (then as
/// fast as `first_broken_rule`).
std::optional<PlanRejection> find_plan_rejection(const Job& job, const Plan& plan);

/// Throws the error about an illegal plan: `kUnsupported` if no code covers such plans yet, else
/// `kInput`. `where` starts the message.
[[noreturn]] void fail_rejected_plan(const PlanRejection& refused, std::string_view where = "");

/// Returns every reason why no plan of the job can be legal: the broken rules that depend only on
/// the job, each with the nearest change of the job.
std::vector<PlanRejection> illegal_job_reasons(const Job& job);

/// Returns, ascending, the tensor-parallel degrees that obey all rules on this degree alone.
std::vector<std::int64_t> legal_tensor_degrees(const Job& job);
/// Returns, ascending, the context-parallel degrees that obey all rules on this degree alone.
std::vector<std::int64_t> legal_context_degrees(const Job& job);
/// Returns, ascending, the pipeline degrees that obey all rules on this degree alone, with evenly
/// divided layers.
std::vector<std::int64_t> legal_pipeline_degrees(const Job& job);
/// Returns, ascending, the expert-parallel degrees that obey all rules on this degree alone.
std::vector<std::int64_t> legal_expert_degrees(const Job& job);
/// Returns, ascending, the expert-tensor degrees that obey all rules on this degree alone.
std::vector<std::int64_t> legal_expert_tensor_degrees(const Job& job);

/// Returns the micro-batch sizes that divide the sequences of one data rank; empty if `data` does
/// not divide the batch.
std::vector<std::int64_t> legal_micro_batch_sizes(const Job& job, std::int64_t data);

/// Returns the possible sizes of sharding groups in a plan: 1, all data x context ranks, and every
/// size between that divides them into runs of equal shape. The plan's degrees and rank order must
/// be legal.
std::vector<std::int64_t> legal_sharding_group_sizes(const Plan& plan);
/// Returns the possible sizes of sharding groups of experts in a plan: 1, all ranks with the same
/// experts, and every size between that divides them into runs of equal shape.
std::vector<std::int64_t> legal_expert_sharding_group_sizes(const Plan& plan);

/// Returns the divisors of `number` (at least 1), ascending.
std::vector<std::int64_t> divisors(std::int64_t number);

}  // namespace stepwright::plan
