#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The rules that a legal plan obeys, in the order in which they are checked; each may rely on
/// those before it.
enum class Rule : std::uint8_t {
  kPositive,            ///< every size is at least 1
  kWorldSize,           ///< tensor * context * data * pipeline = devices
  kRankOrder,           ///< five different axes; pipeline strides of dense and expert side agree
  kTensorDividesHeads,  ///< heads and kv_heads (latent attention: heads) multiples of tensor
  kTensorDividesFfn,    ///< width of the dense MLP, of the shared experts a multiple of tensor
  kSequenceParallelNeedsTensor,
  kContextDividesLength,   ///< length a multiple of 2 * context, for the balanced causal cut
  kUlyssesDividesHeads,    ///< kv_heads (latent: heads) / tensor a multiple of context
  kLengthDividesTensor,    ///< sequence parallel: length / context a multiple of tensor
  kLengthWithinPositions,  ///< learned positions: length at most the rows of their table
  kExpertNeedsExperts,     ///< expert or expert_tensor above 1 needs a model with experts
  kExpertDividesExperts,
  kExpertTensorDividesFfn,
  kExpertGridDivides,            ///< expert * expert_tensor divides tensor * context * data
  kExpertNeedsSequenceParallel,  ///< expert or expert_tensor above 1 with tensor above 1
  kTensorCollectives,            ///< the algorithm covers a message and suits its group
  kContextCollectives,
  kExpertCollectives,
  kUnfusedContext,      ///< unfused attention with context above 1 only as ulysses: not covered yet
  kFrozenStep,          ///< pipeline of layers without a backward: not covered yet
  kMultiTokenStep,      ///< multi-token layers that add to embedded tokens: not covered yet
  kStagesWithinLayers,  ///< pipeline * chunks at most the layers
  kLayerSplit,  ///< explicit layers: one per chunk, at least 1 (at the ends 0), sum = layers
  kChunksNeedInterleaving,
  kInterleavingNeedsChunks,  ///< interleaved and paired: at least 2 chunks; V shapes: 2
  kScheduleNeedsPipeline,    ///< what shortens a pipeline's bubble needs pipeline above 1
  kStrandsNeedPairs,         ///< two strands: the schedule has a forward beside a backward
  kBatchDivides,             ///< sequences a multiple of data * micro_batch
  kInterleavingNeedsGroups,  ///< no group of micro-batches below pipeline
  kDualPipeEnds,             ///< dualpipe: even numbers of positions and of micro-batches
  kDualPipeMicroBatches,     ///< dualpipe, dualpipev: at least 2 pipeline micro-batches
  kVocabularyStep,           ///< tables over all positions: of plain heads and embeddings
  kStrandsNeedMicroBatches,  ///< two strands: at least 2 micro-batches
  kShardingStrategy,         ///< one of the fourteen
  kShardingGroup,            ///< cuts data x context into equal runs; 1 unless a state is I
  kExpertShardingGroup,      ///< the same of the experts' data group
  kDataCollectives,          ///< as kTensorCollectives
  kRecomputeEvery,           ///< n of `every: n` is at least 1
  kRecomputeModules,         ///< the model has what `modules` lists
  kRecomputeStages,          ///< the pipeline has the positions that `stages` names
  kPrecision,                ///< the device has a peak rate for the precision
  kAccumulate,               ///< the type of stored gradients or a wider one
  kOffloadShare,             ///< from 0 to 1
  kOffloadModules,           ///< the model has what `activations` lists
  kOffloadUpdate,            ///< the host updates what Adam or plain descent has: others not yet
  kOffloadParameters,        ///< split parameters and gradients, and the whole optimizer there
  kOffloadHost,              ///< host memory, its bandwidth and the link are known
  kHostMemory,               ///< offloaded states within the memory of a node's host
};
inline constexpr Named<Rule> kRuleNames[] = {
    {Rule::kPositive, "positive-sizes"},
    {Rule::kWorldSize, "world-size"},
    {Rule::kRankOrder, "rank-order"},
    {Rule::kTensorDividesHeads, "heads-per-tensor"},
    {Rule::kTensorDividesFfn, "ffn-per-tensor"},
    {Rule::kSequenceParallelNeedsTensor, "sequence-parallel-needs-tensor"},
    {Rule::kContextDividesLength, "length-per-context"},
    {Rule::kUlyssesDividesHeads, "heads-per-ulysses"},
    {Rule::kLengthDividesTensor, "length-per-tensor"},
    {Rule::kLengthWithinPositions, "length-within-positions"},
    {Rule::kExpertNeedsExperts, "expert-needs-experts"},
    {Rule::kExpertDividesExperts, "experts-per-expert"},
    {Rule::kExpertTensorDividesFfn, "expert-ffn-per-tensor"},
    {Rule::kExpertGridDivides, "expert-grid"},
    {Rule::kExpertNeedsSequenceParallel, "expert-needs-sequence-parallel"},
    {Rule::kTensorCollectives, "tensor-collectives"},
    {Rule::kContextCollectives, "context-collectives"},
    {Rule::kExpertCollectives, "expert-collectives"},
    {Rule::kUnfusedContext, "unfused-attention-context"},
    {Rule::kFrozenStep, "frozen-step"},
    {Rule::kMultiTokenStep, "multi-token-step"},
    {Rule::kStagesWithinLayers, "stages-within-layers"},
    {Rule::kLayerSplit, "layer-split"},
    {Rule::kChunksNeedInterleaving, "chunks-need-interleaving"},
    {Rule::kInterleavingNeedsChunks, "interleaving-needs-chunks"},
    {Rule::kScheduleNeedsPipeline, "schedule-needs-pipeline"},
    {Rule::kStrandsNeedPairs, "strands-need-pairs"},
    {Rule::kBatchDivides, "batch-per-data"},
    {Rule::kInterleavingNeedsGroups, "interleaving-needs-groups"},
    {Rule::kDualPipeEnds, "dualpipe-ends"},
    {Rule::kDualPipeMicroBatches, "dualpipe-needs-micro-batches"},
    {Rule::kVocabularyStep, "vocabulary-step"},
    {Rule::kStrandsNeedMicroBatches, "strands-need-micro-batches"},
    {Rule::kShardingStrategy, "sharding-strategy"},
    {Rule::kShardingGroup, "sharding-group"},
    {Rule::kExpertShardingGroup, "expert-sharding-group"},
    {Rule::kDataCollectives, "data-collectives"},
    {Rule::kRecomputeEvery, "recompute-every"},
    {Rule::kRecomputeModules, "recompute-modules"},
    {Rule::kRecomputeStages, "recompute-stages"},
    {Rule::kPrecision, "precision"},
    {Rule::kAccumulate, "accumulate"},
    {Rule::kOffloadShare, "offload-share"},
    {Rule::kOffloadModules, "offload-modules"},
    {Rule::kOffloadUpdate, "offload-update"},
    {Rule::kOffloadParameters, "offload-parameters"},
    {Rule::kOffloadHost, "offload-host"},
    {Rule::kHostMemory, "host-memory"}};

/// "heads-per-tensor".
std::string_view rule_name(Rule rule);

/// The demand of the rule, as one sentence without a full stop.
std::string_view rule_sentence(Rule rule);

/// Whether plans that break the rule mean something that nothing covers yet (`kUnsupported`),
/// not something that cannot be (`kInput`).
constexpr bool not_covered_yet(Rule rule) {
  return rule == Rule::kUnfusedContext || rule == Rule::kFrozenStep ||
         rule == Rule::kMultiTokenStep || rule == Rule::kVocabularyStep ||
         rule == Rule::kOffloadUpdate;
}

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

/// Fails with the reason of a refusal: `kUnsupported` where nothing covers it yet, else `kInput`.
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
