#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <numeric>
#include <string>

#include "stepwright/core/format.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/groups.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::plan {
namespace {

const schedule::PipelineScheduleTraits& traits(const Plan& plan) {
  return schedule::traits_of(plan.schedule.kind);
}

std::string_view kind_of(const Plan& plan) {
  return name_of(schedule::kScheduleKindNames, plan.schedule.kind);
}

schedule::ChunksPerPositionRange range_of(const Plan& plan) {
  return schedule::chunk_range(plan.schedule.kind, plan.parallel.pipeline);
}

/// Returns the plan without virtual stages.
Plan plain(Plan plan) {
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kOneForwardOneBackward, .chunks = 1};
  return plan;
}

/// Numbers of chunks per pipeline rank that leave each chunk a layer, from 1 on.
std::vector<std::int64_t> possible_chunks(const Job& job, const Plan& plan) {
  const std::int64_t most = job.model.layers / plan.parallel.pipeline;
  std::vector<std::int64_t> chunks(static_cast<std::size_t>(most));
  std::iota(chunks.begin(), chunks.end(), 1);
  return chunks;
}

// --- Laws of the split of layers. ---

bool too_many_stages(const Job& job, const Plan& plan) {
  if (!plan.layers.empty()) return false;  // `wrong_split` checks listed layers.
  return plan.schedule.chunks > job.model.layers / plan.parallel.pipeline;
}

std::string stages_values(const Job& job, const Plan& plan) {
  return fmt::format("pipeline {} x chunks {} are more than the {} layers", plan.parallel.pipeline,
                     plan.schedule.chunks, job.model.layers);
}

void repair_stages(NearestLegalPlanSearch& repairs) {
  repairs.propose_values(kChunksKnob, possible_chunks(repairs.job(), repairs.plan()));
  repairs.propose_values(kPipelineKnob, legal_pipeline_degrees(repairs.job()));
}

/// True if a pipeline position would hold no part of the model.
bool idle_position(const Plan& plan) {
  const schedule::ModelChunkPlacement placement = model_chunk_placement(plan);
  for (std::int64_t position = 0; position < placement.positions(); ++position) {
    bool holds = placement.holds_embedding(position) || placement.holds_head(position);
    for (std::int64_t i = 0; i < placement.chunks(); ++i) {
      holds = holds ||
              plan.layers[static_cast<std::size_t>(placement.model_chunk_index({position, i}))] > 0;
    }
    if (!holds) return true;
  }
  return false;
}

/// True if chunks between the first and the last may have no layers and only pass on their input,
/// as in interleaved schedules (Megatron-Core's
/// megatron/core/transformer/pipeline_parallel_layer_layout.py, "(empty stage)").
bool may_be_hollow(const Plan& plan) {
  return traits(plan).placement == schedule::ModelChunkPlacementKind::kCyclic &&
         !traits(plan).found && plan.schedule.strands == 1;
}

bool wrong_split(const Job& job, const Plan& plan) {
  if (plan.layers.empty()) return false;
  if (std::ssize(plan.layers) != model_chunk_placement(plan).model_chunk_count()) return true;
  std::int64_t rest = job.model.layers;
  for (const std::int64_t layers : plan.layers) {
    if (layers < 0 || layers > rest) return true;
    rest -= layers;
  }
  return rest != 0 ||
         (may_be_hollow(plan) ? idle_position(plan) : has_empty_middle_chunk(plan.layers));
}

std::string split_values(const Job& job, const Plan& plan) {
  return fmt::format(
      "layers [{}] do not split {} layers into {} chunks (pipeline {} x chunks {}) that leave no "
      "{} without any part of the model",
      fmt::join(plan.layers, ", "), job.model.layers,
      model_chunk_placement(plan).model_chunk_count(), plan.parallel.pipeline, plan.schedule.chunks,
      may_be_hollow(plan) ? "position" : "chunk");
}

void repair_split(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  plan.layers.clear();
  repairs.propose_plans({plan});
}

// --- Laws of the chunks of a position. ---

bool too_many_chunks(const Job& /*job*/, const Plan& plan) {
  return plan.schedule.chunks > range_of(plan).most;
}

std::string many_chunks_values(const Job& /*job*/, const Plan& plan) {
  const std::int64_t most = range_of(plan).most;
  if (traits(plan).several_apart) {
    return fmt::format("the schedule {} has 1 chunk if pipeline is 1, but chunks is {}",
                       kind_of(plan), plan.schedule.chunks);
  }
  if (most > 1) {
    return fmt::format("the schedule {} has {} chunks, but chunks is {}", kind_of(plan), most,
                       plan.schedule.chunks);
  }
  return fmt::format("{} chunks need the interleaved schedule, but the schedule is {}",
                     plan.schedule.chunks, kind_of(plan));
}

void repair_many_chunks(NearestLegalPlanSearch& repairs) {
  Plan fewer = repairs.plan();
  fewer.schedule.chunks = range_of(fewer).most;
  Plan more = repairs.plan();
  more.schedule.kind = schedule::PipelineScheduleKind::kInterleaved;
  repairs.propose_plans({fewer, more});
}

bool too_few_chunks(const Job& /*job*/, const Plan& plan) {
  return plan.schedule.chunks < range_of(plan).least;
}

std::string few_chunks_values(const Job& /*job*/, const Plan& plan) {
  const std::int64_t least = range_of(plan).least;
  return fmt::format("the schedule {} has {}{} chunks, but chunks is {}", kind_of(plan),
                     range_of(plan).most > least ? "at least " : "", least, plan.schedule.chunks);
}

void repair_few_chunks(NearestLegalPlanSearch& repairs) {
  Plan two = repairs.plan();
  two.schedule.chunks = range_of(two).least;
  repairs.propose_plans({plain(repairs.plan()), two});
}

bool pipeline_missing(const Job& /*job*/, const Plan& plan) {
  return !traits(plan).alone && plan.parallel.pipeline == 1;
}

std::string pipeline_missing_values(const Job& /*job*/, const Plan& plan) {
  return fmt::format("the schedule {} needs a pipeline, but pipeline is 1", kind_of(plan));
}

void repair_to_plain(NearestLegalPlanSearch& repairs) {
  repairs.propose_plans({plain(repairs.plan())});
}

void repair_rounds(NearestLegalPlanSearch& repairs) {
  repairs.propose_values(kMicroBatchKnob,
                         legal_micro_batch_sizes(repairs.job(), repairs.plan().parallel.data));
  repair_to_plain(repairs);
}

/// True if a schedule that sends micro-batches from both ends has an odd number of positions or of
/// micro-batches, which do not form two halves.
bool odd_ends(const Job& job, const Plan& plan) {
  if (!traits(plan).even) return false;
  return plan.parallel.pipeline % 2 != 0 || micro_batches_per_pipeline(job, plan) % 2 != 0;
}

std::string odd_ends_values(const Job& job, const Plan& plan) {
  return fmt::format(
      "the schedule {} needs an even number of positions and of micro-batches; pipeline is {}, "
      "micro-batches are {}",
      kind_of(plan), plan.parallel.pipeline, micro_batches_per_pipeline(job, plan));
}

// --- Laws of strands (two interleaved micro-batches). ---

bool strands_without_pairs(const Job& /*job*/, const Plan& plan) {
  return plan.schedule.strands > 1 && !traits(plan).pairs;
}

std::string strands_values(const Job& /*job*/, const Plan& plan) {
  std::vector<std::string_view> pairing;
  for (const auto& [kind, name, definition] : schedule::kScheduleRows) {
    if (definition->traits.pairs && definition->traits.runs) pairing.push_back(name);
  }
  return fmt::format(
      "strands is {}, but the schedule {} runs no forward at the same time as a backward (the "
      "schedules {} and {} do)",
      plan.schedule.strands, kind_of(plan),
      fmt::join(std::span(pairing).first(pairing.size() - 1), ", "), pairing.back());
}

void repair_strands(NearestLegalPlanSearch& repairs) {
  Plan one = repairs.plan();
  one.schedule.strands = 1;
  Plan folded = repairs.plan();
  folded.schedule = {.kind = schedule::PipelineScheduleKind::kFolded, .chunks = 2, .strands = 2};
  repairs.propose_plans({one, folded});
}

/// Names a setting that no builder combines with an embedding and a head shared by all positions;
/// empty: there is none.
std::string_view beside_shared_vocabulary(const Job& job) {
  const model::ModelArchitecture& model = job.model;
  if (job.kernels.gathered_logits) return "kernels.gathered_logits";
  if (job.kernels.plain_loss) return "kernels.plain_loss";
  if (model.encodes_images()) return "an encoder of images";
  if (model.extra_predicted_tokens() > 0) return "model.count_multi_token";
  if (model.has_frozen_weights() || model.adapters) return "model.adapters or frozen parts";
  return {};
}

/// Names a setting that no builder combines with a shared embedding and head computed in separate
/// passes; empty: there is none.
std::string_view beside_passes(const Job& job, const Plan& plan) {
  const FrameworkKernels& kernels = job.kernels;
  const Sharding sharding = canonical_sharding(job, plan);
  if (kernels.loss_chunks != 1) return "kernels.loss_chunks";
  if (kernels.loss_keeps != LossSavedTensors::kLogits) return "kernels.loss_keeps";
  if (kernels.document_loss) return "kernels.document_loss";
  if (job.method.kind > TrainingMethodKind::kSft) return "method.kind beyond sft";
  if (sharding.parameters != StateShardingScope::kNone) return "sharded parameters";
  if (sharding.gradients != StateShardingScope::kNone) return "sharded gradients";
  if (traits(plan).barriers == 1 && job.model.logit_cap > 0) return "model.logit_cap";
  return {};
}

std::string_view beside_vocabulary(const Job& job, const Plan& plan) {
  if (!traits(plan).spreads_vocabulary) return {};
  const std::string_view any = beside_shared_vocabulary(job);
  return any.empty() && traits(plan).barriers > 0 ? beside_passes(job, plan) : any;
}

bool uncovered_vocabulary(const Job& job, const Plan& plan) {
  return !beside_vocabulary(job, plan).empty();
}

std::string vocabulary_values(const Job& job, const Plan& plan) {
  return fmt::format("the schedule {} with {} is not supported yet", kind_of(plan),
                     beside_vocabulary(job, plan));
}

bool strands_of_one(const Job& job, const Plan& plan) {
  return plan.schedule.strands > 1 && micro_batches_per_pipeline(job, plan) < 2;
}

std::string strands_of_one_values(const Job& /*job*/, const Plan& /*plan*/) {
  return "strands is 2 and needs 2 micro-batches, but a step has 1";
}

void repair_strands_of_one(NearestLegalPlanSearch& repairs) {
  repairs.propose_values(kMicroBatchKnob,
                         legal_micro_batch_sizes(repairs.job(), repairs.plan().parallel.data));
  Plan one = repairs.plan();
  one.schedule.strands = 1;
  repairs.propose_plans({one});
}

// --- Laws of the batch and its micro-batches. ---

bool batch_cut(const Job& job, const Plan& plan) {
  const std::int64_t data = plan.parallel.data;
  return job.sequences % data != 0 || job.sequences / data % plan.micro_batch != 0;
}

/// Returns the end of a message with the batches next to the job's that all replicas can share;
/// empty: the smallest one is too large to be counted.
std::string nearest_batches(const Job& job, const Plan& plan) {
  std::int64_t pass = 0;
  if (__builtin_mul_overflow(plan.parallel.data, plan.micro_batch, &pass)) return "";
  const std::int64_t below = job.sequences / pass * pass;
  return fmt::format("; nearest batches: {}{}", below > 0 ? fmt::format("{} and ", below) : "",
                     below + pass);
}

std::string batch_values(const Job& job, const Plan& plan) {
  const std::string each =
      plan.micro_batch > 1 ? fmt::format(" in micro-batches of {}", plan.micro_batch) : "";
  return fmt::format("the batch of {} cannot be shared by {}{}{}",
                     count_with_noun(job.sequences, "sequence"),
                     count_with_noun(plan.parallel.data, "data-parallel replica"), each,
                     nearest_batches(job, plan));
}

void repair_batch(NearestLegalPlanSearch& repairs) {
  const Job& job = repairs.job();
  repairs.propose_values(kMicroBatchKnob,
                         legal_micro_batch_sizes(job, repairs.plan().parallel.data));
  repairs.propose_values(kDataKnob, divisors(std::gcd(job.sequences, job.cluster.devices())));
}

/// Number of micro-batches in a group of an interleaved schedule.
std::int64_t group_size(const Job& job, const Plan& plan) {
  return schedule::micro_batch_group_size_of_schedule(plan.schedule, plan.parallel.pipeline,
                                                      micro_batches_per_pipeline(job, plan));
}

bool groups_cut(const Job& job, const Plan& plan) {
  return traits(plan).groups &&
         !schedule::is_legal_group_size(group_size(job, plan), plan.parallel.pipeline,
                                        micro_batches_per_pipeline(job, plan));
}

std::string groups_values(const Job& job, const Plan& plan) {
  return fmt::format(
      "{} micro-batches do not come in groups of {} of which each, the last one too, has pipeline "
      "{} or more ({})",
      micro_batches_per_pipeline(job, plan), group_size(job, plan), plan.parallel.pipeline,
      kind_of(plan));
}

void repair_groups(NearestLegalPlanSearch& repairs) {
  Plan least = repairs.plan();
  least.schedule.group = schedule::min_group_size(least.parallel.pipeline,
                                                  micro_batches_per_pipeline(repairs.job(), least));
  repairs.propose_plans({least});
  repair_rounds(repairs);
}

/// Most passes of a step (one micro-batch through one chunk), as each is simulated and listed.
constexpr std::int64_t kMostPasses = std::int64_t{1} << 18;

bool too_many_passes(const Job& job, const Plan& plan) {
  const std::int64_t chunks = plan.parallel.pipeline * plan.schedule.chunks;
  return micro_batches_per_pipeline(job, plan) > kMostPasses / chunks;
}

std::string passes_values(const Job& job, const Plan& plan) {
  return fmt::format(
      "micro-batches {} x pipeline {} x chunks {} are more than {} passes of a step, which are "
      "simulated one by one",
      micro_batches_per_pipeline(job, plan), plan.parallel.pipeline, plan.schedule.chunks,
      kMostPasses);
}

/// Fewest micro-batches of a schedule; some must fill the pipeline in both directions before their
/// steady state.
std::int64_t least_micro_batches(const Plan& plan) {
  return traits(plan).least_rounds * plan.parallel.pipeline;
}

bool too_few_micro_batches(const Job& job, const Plan& plan) {
  return micro_batches_per_pipeline(job, plan) < least_micro_batches(plan);
}

std::string few_micro_batches_values(const Job& job, const Plan& plan) {
  return fmt::format(
      "the schedule {} needs at least {} micro-batches with pipeline {}; they are {}",
      kind_of(plan), least_micro_batches(plan), plan.parallel.pipeline,
      micro_batches_per_pipeline(job, plan));
}

constexpr PlanRuleDefinition kScheduleLaws[] = {
    {PlanLegalityRule::kStagesWithinLayers, "stages-within-layers",
     "pipeline x chunks are at most the layers", too_many_stages, stages_values, repair_stages},
    {PlanLegalityRule::kLayerSplit, "layer-split",
     "a list of layers has one entry per chunk, that sum to the layers and leave no position (of "
     "all but interleaved and paired: no chunk) without layers, embedding and head",
     wrong_split, split_values, repair_split},
    {PlanLegalityRule::kChunksNeedInterleaving, "chunks-need-interleaving",
     "more than one chunk needs the interleaved schedule, or one that has two", too_many_chunks,
     many_chunks_values, repair_many_chunks},
    {PlanLegalityRule::kInterleavingNeedsChunks, "interleaving-needs-chunks",
     "the interleaved schedule needs at least 2 chunks, down and up again has 2", too_few_chunks,
     few_chunks_values, repair_few_chunks},
    {PlanLegalityRule::kScheduleNeedsPipeline, "schedule-needs-pipeline",
     "interleaved, zero-bubble and dualpipe schedules need pipeline above 1", pipeline_missing,
     pipeline_missing_values, repair_to_plain},
    {PlanLegalityRule::kStrandsNeedPairs, "strands-need-pairs",
     "two strands need a schedule that has a forward beside a backward: folded, dualpipev, paired, "
     "stp",
     strands_without_pairs, strands_values, repair_strands},
    {PlanLegalityRule::kBatchDivides, "batch-per-data",
     "data x micro_batch divides the sequences of the batch", batch_cut, batch_values,
     repair_batch},
    {PlanLegalityRule::kInterleavingNeedsGroups, "interleaving-needs-groups",
     "in interleaved and paired schedules no group of micro-batches has fewer than pipeline",
     groups_cut, groups_values, repair_groups},
    {PlanLegalityRule::kDualPipeEnds, "dualpipe-ends",
     "dualpipe needs even numbers of positions and of micro-batches", odd_ends, odd_ends_values,
     repair_rounds},
    {PlanLegalityRule::kDualPipeMicroBatches, "dualpipe-needs-micro-batches",
     "dualpipe and dualpipev need at least 2 x pipeline micro-batches, stp 3 x pipeline",
     too_few_micro_batches, few_micro_batches_values, repair_rounds},
    {PlanLegalityRule::kVocabularyStep, "vocabulary-step",
     "vocabulary over all positions needs a model of text whose weights are all trained, without "
     "multi-token layers, and a loss of logits that are not gathered or copied; where positions do "
     "not meet for it also one loss of all tokens, parameters and gradients that are not sharded, "
     "and no method beyond sft (others are not covered yet)",
     uncovered_vocabulary, vocabulary_values, repair_to_plain, /*of_job=*/false,
     /*not_covered=*/true},
    {PlanLegalityRule::kStrandsNeedMicroBatches, "strands-need-micro-batches",
     "two strands need at least 2 micro-batches", strands_of_one, strands_of_one_values,
     repair_strands_of_one},
    {PlanLegalityRule::kStepPasses, "step-passes",
     "micro-batches x pipeline x chunks are at most 262,144 passes of a step", too_many_passes,
     passes_values, repair_rounds}};

}  // namespace

std::span<const PlanRuleDefinition> pipeline_schedule_rules() { return kScheduleLaws; }

}  // namespace stepwright::plan
