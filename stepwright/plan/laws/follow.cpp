#include <algorithm>
#include <numeric>

#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::plan {
namespace {

/// Returns the largest size up to `present` that cuts a group and divides `present`; 1 if there is
/// none.
std::int64_t nearest_cut(const StridedRanks& group, std::int64_t present) {
  const std::int64_t common = std::gcd(group.size(), present);
  return cut_into_rank_runs(group, common) ? common : 1;
}

void follow_sharding(const Job& job, Plan& plan) {
  Sharding& sharding = plan.sharding;
  if (plan.parallel.expert_data_degree() == 0) return;
  if (!sharding.uses(StateShardingScope::kInner)) sharding.group = sharding.expert_group = 1;
  if (!job.model.experts) sharding.expert_group = 1;
  const RankGridAxisSizes axes = grid_axes(plan.parallel, plan.rank_order);
  sharding.group = nearest_cut(data_context_rank_factors(axes), sharding.group);
  sharding.expert_group = nearest_cut(expert_data_rank_factors(axes), sharding.expert_group);
}

/// Chooses a rank order that fits: with the pipeline as the slowest axis, the dense and the expert
/// side always agree.
void follow_rank_order(Plan& plan) {
  const auto last = std::ranges::end(plan.rank_order.axes);
  const auto pipeline = std::ranges::find(plan.rank_order.axes, ParallelismAxis::kPipeline);
  if (pipeline != last) std::rotate(pipeline, pipeline + 1, last);
}

/// Keeps a listed split that has one entry per chunk; otherwise chooses the even split.
void follow_layers(const Job& job, Plan& plan) {
  const std::int64_t pipeline = plan.parallel.pipeline;
  const bool possible = plan.schedule.chunks <= job.model.layers / pipeline;
  const bool each =
      possible && std::ssize(plan.layers) == model_chunk_placement(plan).model_chunk_count();
  if (!each) plan.layers.clear();
  const bool settled = schedule::traits_of(plan.schedule.kind).found && possible &&
                       schedule::fits(plan.schedule.basis, model_chunk_placement(plan));
  if (!settled) plan.schedule.basis = {};
}

/// Sets the scheme whose algorithm a rule refuses to the library; returns false for other rules.
bool follow_algorithm(CollectiveAlgorithmChoices& collectives, PlanLegalityRule broken) {
  const auto give = [](collective::CollectiveAlgorithm& choice) {
    choice = collective::CollectiveAlgorithm::kLibrary;
    return true;
  };
  switch (broken) {
    case PlanLegalityRule::kTensorCollectives: return give(collectives.tensor);
    case PlanLegalityRule::kContextCollectives: return give(collectives.context);
    case PlanLegalityRule::kExpertCollectives: return give(collectives.expert);
    case PlanLegalityRule::kDataCollectives: return give(collectives.data);
    default: return false;
  }
}

/// Sets algorithms that no longer fit to the library.
void follow_collectives(const Job& job, Plan& plan) {
  for (std::size_t i = 0; i < std::size(kChoosingSchemes); ++i) {
    const std::optional<PlanLegalityRule> broken = first_broken_rule(job, plan);
    if (!broken) return;
    if (!follow_algorithm(plan.collectives, *broken)) return;
  }
}

/// Changes a schedule that needs a pipeline or several chunks to 1f1b if the plan has none.
void follow_schedule(Plan& plan) {
  const schedule::PipelineScheduleTraits& traits = schedule::traits_of(plan.schedule.kind);
  const bool alone = plan.parallel.pipeline == 1;
  if (alone && traits.most_chunks != traits.least_chunks) plan.schedule.chunks = 1;
  const bool few = plan.schedule.chunks < (alone ? 1 : traits.least_chunks);
  if ((alone && !traits.alone) || few) {
    plan.schedule = {.kind = schedule::PipelineScheduleKind::kOneForwardOneBackward, .chunks = 1};
  }
  if (!schedule::traits_of(plan.schedule.kind).pairs) plan.schedule.strands = 1;
}

}  // namespace

void adapt_dependent_choices(const Job& job, Plan& plan) {
  const std::optional<PlanLegalityRule> broken = first_broken_rule(job, plan);
  // nothing can follow before the degrees fit the cluster
  if (broken && *broken <= PlanLegalityRule::kWorldSize) return;
  const ParallelismDegrees& degrees = plan.parallel;
  const bool routed = degrees.expert > 1 || degrees.expert_tensor > 1;
  if (degrees.tensor == 1) plan.sequence_parallel = false;
  if (degrees.tensor > 1 && routed) plan.sequence_parallel = true;
  follow_schedule(plan);
  follow_layers(job, plan);
  std::erase_if(plan.recompute.stages,
                [&](const auto& stage) { return stage.position >= degrees.pipeline; });
  if (job.sequences % degrees.data == 0) {
    plan.micro_batch = std::gcd(job.sequences / degrees.data, plan.micro_batch);
  }
  if (broken == PlanLegalityRule::kRankOrder) follow_rank_order(plan);
  follow_sharding(job, plan);
  follow_collectives(job, plan);
}

}  // namespace stepwright::plan
