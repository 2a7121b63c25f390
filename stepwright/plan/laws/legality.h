#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The rules that a legal plan obeys, in the order in which they are checked; each may rely on
/// those before it. `rule_sentence` says what each demands.
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

/// The demand of the rule, as one sentence without a full stop.
std::string_view rule_sentence(Rule rule);

/// Why a plan is not legal.
struct Rejected {
  Rule rule{};
  std::string message;  ///< Rule, the values that break it, and the nearest legal plans.
  /// Legal plans (at most two, below and above) that change the offending choice and what has to
  /// follow it. Empty when only the job can be changed, or nothing near is legal.
  std::vector<Plan> nearest;
};

/// The first broken rule, or nothing when the plan is legal. Only arithmetic and structure: whether
/// it fits in memory is another question. Any values may be given. No allocation.
std::optional<Rule> broken_rule(const Job& job, const Plan& plan);

/// The first broken one of the rules of recomputation, whatever else the plan breaks.
std::optional<Rule> broken_recompute(const Job& job, const Plan& plan);

/// Judges as above, with the reason and the nearest legal plans; costs nothing more for a legal
/// plan.
std::optional<Rejected> illegal(const Job& job, const Plan& plan);

/// Fails with the reason of a refusal: `kUnsupported` where nothing covers such plans yet, else
/// `kInput`.
/// `where` stands before it.
[[noreturn]] void fail_refused(const Rejected& refused, std::string_view where = "");

/// The reasons that make every plan of the job illegal: the broken ones of the rules that look at
/// the job alone, each with its reason and the nearest change of the job.
std::vector<Rejected> illegal_job(const Job& job);

/// Values that a degree can have in any legal plan of the job, ascending: what the rules that look
/// at this degree alone leave over; of pipeline, with even layers.
std::vector<std::int64_t> legal_tensor_sizes(const Job& job);
std::vector<std::int64_t> legal_context_sizes(const Job& job);
std::vector<std::int64_t> legal_pipeline_sizes(const Job& job);
std::vector<std::int64_t> legal_expert_sizes(const Job& job);
std::vector<std::int64_t> legal_expert_tensor_sizes(const Job& job);

/// Micro-batch sizes that divide the sequences of one data rank; empty when `data` does not divide
/// the batch.
std::vector<std::int64_t> legal_micro_batches(const Job& job, std::int64_t data);

/// Sharding groups of the plan's grid, for states I: 1, the whole group and everything between that
/// cuts it into equal runs. The plan's degrees and rank order are legal.
std::vector<std::int64_t> legal_sharding_groups(const Plan& plan);
std::vector<std::int64_t> legal_expert_groups(const Plan& plan);

/// The divisors of a number of at least 1, ascending.
std::vector<std::int64_t> divisors(std::int64_t number);

}  // namespace stepwright::plan
