#include "stepwright/plan/laws/legality.h"

#include <fmt/format.h>

#include <array>

#include "stepwright/core/error.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright::plan {
namespace {

constexpr Named<Rule> kRuleSentences[] = {
    {Rule::kPositive, "every size is at least 1"},
    {Rule::kWorldSize, "tensor x context x data x pipeline are exactly the devices"},
    {Rule::kRankOrder,
     "the rank order names each axis once and, with experts, gives the pipeline one stride on the "
     "dense and on the expert side"},
    {Rule::kTensorDividesHeads, "tensor divides the heads and the key-value heads"},
    {Rule::kTensorDividesFfn, "tensor divides the width of the dense and of the shared MLPs"},
    {Rule::kSequenceParallelNeedsTensor, "sequence parallelism needs tensor above 1"},
    {Rule::kContextDividesLength,
     "2 x context divides the length, so that every rank gets an equal share of the causal half"},
    {Rule::kUlyssesDividesHeads,
     "with Ulysses context divides the key-value heads of a tensor rank"},
    {Rule::kLengthDividesTensor,
     "with sequence parallelism tensor divides the tokens that a context rank has of a sequence"},
    {Rule::kLengthWithinPositions, "the length is within the model's table of positions"},
    {Rule::kExpertNeedsExperts, "expert or expert_tensor above 1 needs a model with experts"},
    {Rule::kExpertDividesExperts, "expert divides the number of experts"},
    {Rule::kExpertTensorDividesFfn, "expert_tensor divides the width of an expert"},
    {Rule::kExpertGridDivides, "expert x expert_tensor divides tensor x context x data"},
    {Rule::kExpertNeedsSequenceParallel,
     "expert or expert_tensor above 1 together with tensor above 1 needs sequence parallelism"},
    {Rule::kTensorCollectives,
     "the algorithm of tensor parallelism covers one of its messages and suits its group"},
    {Rule::kContextCollectives,
     "the algorithm of context parallelism covers one of its messages and suits its group"},
    {Rule::kExpertCollectives,
     "the algorithm of expert parallelism covers one of its messages and suits its group"},
    {Rule::kUnfusedContext,
     "unfused attention has context above 1 only as ulysses (the others are not covered yet)"},
    {Rule::kFrozenStep,
     "pipeline is 1 where whole layers have no backward (others are not covered yet)"},
    {Rule::kMultiTokenStep,
     "multi-token layers embed tokens without positions or a norm, and all weights are trained "
     "(others are not covered yet)"},
    {Rule::kStagesWithinLayers, "pipeline x chunks are at most the layers"},
    {Rule::kLayerSplit,
     "a list of layers has one entry per chunk, that sum to the layers and leave no position "
     "(of all but interleaved and paired: no chunk) without layers, embedding and head"},
    {Rule::kChunksNeedInterleaving,
     "more than one chunk needs the interleaved schedule, or one that has two"},
    {Rule::kInterleavingNeedsChunks,
     "the interleaved schedule needs at least 2 chunks, down and up again has 2"},
    {Rule::kScheduleNeedsPipeline,
     "interleaved, zero-bubble and dualpipe schedules need pipeline above 1"},
    {Rule::kStrandsNeedPairs,
     "two strands need a schedule that has a forward beside a backward: folded, dualpipev, paired, "
     "stp"},
    {Rule::kBatchDivides, "data x micro_batch divides the sequences of the batch"},
    {Rule::kInterleavingNeedsGroups,
     "in interleaved and paired schedules no group of micro-batches has fewer than pipeline"},
    {Rule::kDualPipeEnds, "dualpipe needs even numbers of positions and of micro-batches"},
    {Rule::kDualPipeMicroBatches,
     "dualpipe and dualpipev need at least 2 x pipeline micro-batches, stp 3 x pipeline"},
    {Rule::kVocabularyStep,
     "vocabulary over all positions needs a model of text whose weights are all trained, without "
     "multi-token layers, and a loss of logits that are not gathered or copied; where positions do "
     "not meet for it also one loss of all tokens, parameters and gradients that are not sharded, "
     "and no method beyond sft (others are not covered yet)"},
    {Rule::kStrandsNeedMicroBatches, "two strands need at least 2 micro-batches"},
    {Rule::kShardingStrategy, "the sharding is one of the fourteen strategies"},
    {Rule::kShardingGroup,
     "the sharding group cuts data x context into equal runs; 1 unless it has a use"},
    {Rule::kExpertShardingGroup,
     "the expert sharding group cuts the experts' data group into equal runs; 1 unless it has a "
     "use"},
    {Rule::kDataCollectives,
     "the algorithm of data parallelism covers one of its messages and suits its group"},
    {Rule::kRecomputeEvery, "recomputing every n-th layer needs n of at least 1"},
    {Rule::kRecomputeModules, "recomputed modules must be ones that the model has"},
    {Rule::kRecomputeStages, "recomputation names stages that the pipeline has"},
    {Rule::kPrecision, "the device has a peak rate for the precision"},
    {Rule::kAccumulate, "gradients add up in the type they are stored in or in a wider one"},
    {Rule::kOffloadShare, "the share of the optimizer on the host is from 0 to 1"},
    {Rule::kOffloadModules,
     "modules whose activations lie on the host are ones that the model has"},
    {Rule::kOffloadUpdate,
     "hosts do updates of adam, adamw, adam_bf16 and sgd (others are not covered yet)"},
    {Rule::kOffloadParameters,
     "parameters on the host need strategy GGG or III over several ranks, and the whole optimizer "
     "there"},
    {Rule::kOffloadHost,
     "offload needs the memory, the memory's bandwidth and the link of the host"},
    {Rule::kHostMemory, "what is offloaded fits in the memory of the hosts"}};
static_assert(std::size(kRuleSentences) == std::size(kRuleNames));

/// The laws in the order in which they are checked.
std::array<std::span<const Law>, 10> all_laws() {
  return {grid_laws(),     cut_laws(),      expert_laws(), block_collective_laws(),
          coverage_laws(), schedule_laws(), state_laws(),  data_collective_laws(),
          type_laws(),     offload_laws()};
}

/// The first broken law; null pointer when there is none.
const Law* broken_law(const Job& job, const Plan& plan) {
  for (const auto laws : all_laws()) {
    for (const Law& law : laws) {
      if (law.broken(job, plan)) return &law;
    }
  }
  return nullptr;
}

Rejected rejected(const Job& job, const Plan& plan, const Law& law) {
  Repairs repairs(job, plan, law.rule);
  law.repair(repairs);
  return {law.rule,
          fmt::format("{}: {}; {}", rule_name(law.rule), law.values(job, plan), repairs.advice()),
          repairs.found()};
}

}  // namespace

std::string_view rule_name(Rule rule) { return name_of(kRuleNames, rule); }

std::string_view rule_sentence(Rule rule) { return name_of(kRuleSentences, rule); }

std::optional<Rule> broken_rule(const Job& job, const Plan& plan) {
  const Law* law = broken_law(job, plan);
  if (law == nullptr) return std::nullopt;
  return law->rule;
}

std::optional<Rule> broken_recompute(const Job& job, const Plan& plan) {
  for (const Law& law : type_laws()) {
    const bool asked = law.rule >= Rule::kRecomputeEvery && law.rule <= Rule::kRecomputeStages;
    if (asked && law.broken(job, plan)) return law.rule;
  }
  return std::nullopt;
}

std::optional<Rejected> illegal(const Job& job, const Plan& plan) {
  const Law* law = broken_law(job, plan);
  if (law == nullptr) return std::nullopt;
  return rejected(job, plan, *law);
}

std::vector<Rejected> illegal_job(const Job& job) {
  std::vector<Rejected> found;
  const Plan any;
  for (const auto laws : all_laws()) {
    for (const Law& law : laws) {
      if (law.of_job && law.broken(job, any)) found.push_back(rejected(job, any, law));
    }
  }
  return found;
}

void fail_refused(const Rejected& refused, std::string_view where) {
  const std::string message =
      where.empty() ? refused.message : fmt::format("{}: {}", where, refused.message);
  const InputPlace place{.file = std::string(where)};
  if (not_covered_yet(refused.rule)) fail_unsupported(message, place);
  fail_input(message, place);
}

}  // namespace stepwright::plan
