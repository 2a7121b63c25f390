#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The rules that a legal plan obeys, in the order of their checks; each may assume that the
/// earlier ones hold. `rule_sentence` gives the demand of each.
enum class Rule : std::uint8_t {
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
inline constexpr std::size_t kRules = static_cast<std::size_t>(Rule::kCount);

/// Returns the name of a rule, as "heads-per-tensor".
std::string_view rule_name(Rule rule);

/// Returns the demand of a rule, as one sentence without a full stop.
std::string_view rule_sentence(Rule rule);

/// The reason why a plan is not legal.
struct PlanRejection {
  Rule rule{};
  /// Message with the rule, the values that break it, and the nearest legal plans.
  std::string message;
  /// Nearest legal plans (at most two, below and above), which change the offending choice and the
  /// choices that depend on it. Empty if only the job can be changed, or no legal plan is near.
  std::vector<Plan> nearest;
};

/// Returns the first rule that a plan breaks; nullopt if it is legal. Checks only arithmetic and
/// structure, not memory. Accepts any values; does not allocate memory.
std::optional<Rule> first_broken_rule(const Job& job, const Plan& plan);

/// Returns the first rule of recomputation that a plan breaks, whatever other rules it breaks;
/// nullopt: none.
std::optional<Rule> broken_recompute(const Job& job, const Plan& plan);

/// Returns why a plan is not legal, with the nearest legal plans; nullopt if it is legal, which
/// takes no longer than `first_broken_rule`.
std::optional<PlanRejection> find_plan_rejection(const Job& job, const Plan& plan);

/// Fails with the reason of a refusal: `kUnsupported` if no code covers such plans yet, else
/// `kInput`. The message starts with `where`.
[[noreturn]] void fail_rejected_plan(const PlanRejection& refused, std::string_view where = "");

/// Returns all reasons that make every plan of the job illegal: the broken rules that depend only
/// on the job, each with the nearest change of the job.
std::vector<PlanRejection> illegal_job(const Job& job);

/// Return, ascending, the values of one degree that pass the rules about this degree alone; for the
/// pipeline degree with even layers.
std::vector<std::int64_t> legal_tensor_sizes(const Job& job);
std::vector<std::int64_t> legal_context_sizes(const Job& job);
std::vector<std::int64_t> legal_pipeline_sizes(const Job& job);
std::vector<std::int64_t> legal_expert_sizes(const Job& job);
std::vector<std::int64_t> legal_expert_tensor_sizes(const Job& job);

/// Micro-batch sizes that divide the sequences of one data rank; empty if `data` does not divide
/// the batch.
std::vector<std::int64_t> legal_micro_batches(const Job& job, std::int64_t data);

/// Returns the possible sharding group sizes in the plan's grid, for states of spread I: 1, the
/// whole group, and every size between that divides it into equal runs. The plan's degrees and rank
/// order must be legal.
std::vector<std::int64_t> legal_sharding_groups(const Plan& plan);
std::vector<std::int64_t> legal_expert_groups(const Plan& plan);

/// Returns the divisors of `number` (at least 1), ascending.
std::vector<std::int64_t> divisors(std::int64_t number);

}  // namespace stepwright::plan
