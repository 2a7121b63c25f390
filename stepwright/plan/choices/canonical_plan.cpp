#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/groups.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::plan {
namespace {

void settle_schedule(Plan& plan, const Job& job) {
  const bool same = plan.schedule.kind == schedule::PipelineScheduleKind::kGpipe &&
                    micro_batches_per_pipeline(job, plan) == 1;
  if (same) plan.schedule.kind = schedule::PipelineScheduleKind::kOneForwardOneBackward;
  const bool placed = schedule::traits_of(plan.schedule.kind).found && plan.schedule.chunks > 1 &&
                      plan.schedule.basis.chunks.empty();
  if (!placed) plan.schedule.placement.reset();
  std::int64_t& group = plan.schedule.group;
  const bool least =
      group > 0 && group == schedule::min_group_size(plan.parallel.pipeline,
                                                     micro_batches_per_pipeline(job, plan));
  if (least) group = 0;
  const std::int64_t chunks = model_chunk_placement(plan).model_chunk_count();
  // An even split gives every chunk layers; a listed split may not.
  const bool even =
      chunks <= job.model.layers && plan.layers == even_layer_split(job.model.layers, chunks);
  if (even) plan.layers.clear();
}

/// Canonical recomputation of one position whose chunks have at most `layers` layers.
ActivationRecomputation settled(ActivationRecomputation recompute, std::int64_t layers) {
  if (recompute.every > 1) recompute.every = std::min(recompute.every, layers);
  if (recompute.first >= layers) recompute.first = 0;
  if (recompute.kind == RecomputeKind::kEvery && !recomputes_some_layers(recompute)) {
    recompute.kind = RecomputeKind::kFull;
  }
  const bool core =
      recompute.modules == kCoreRecompute.modules && !recomputes_some_layers(recompute);
  if (recompute.kind == RecomputeKind::kModules && core) recompute.kind = RecomputeKind::kSelective;
  if (recompute.kind != RecomputeKind::kModules) recompute.modules = {};
  const bool spares =
      recompute.kind == RecomputeKind::kEvery || recompute.kind == RecomputeKind::kModules;
  if (!spares) recompute.every = 1, recompute.first = 0;
  return recompute;
}

/// Removes from the list the positions whose recomputation is the same as that of most.
void settle_recompute(Plan& plan, const Job& job) {
  const std::int64_t layers = std::ranges::max(layers_per_chunk(job, plan));
  const std::vector<StageRecompute> named = std::exchange(plan.recompute.stages, {});
  plan.recompute = settled(plan.recompute, layers);
  if (named.empty()) return;
  std::vector<ActivationRecomputation> each(static_cast<std::size_t>(plan.parallel.pipeline),
                                            plan.recompute);
  for (const StageRecompute& stage : named) {
    if (stage.position >= std::ssize(each)) continue;
    each[static_cast<std::size_t>(stage.position)] =
        settled(recompute_settings_of_stage(stage), layers);
  }
  std::map<ActivationRecomputation, std::int64_t> held;
  for (const ActivationRecomputation& own : each) ++held[own];
  using Held = std::pair<const ActivationRecomputation, std::int64_t>;
  const ActivationRecomputation& most = std::ranges::max_element(held, {}, &Held::second)->first;
  plan.recompute = most;
  for (std::size_t i = 0; i < each.size(); ++i) {
    const ActivationRecomputation& own = each[i];
    if (own == most) continue;
    plan.recompute.stages.push_back(
        {static_cast<std::int64_t>(i), own.kind, own.every, own.first, own.modules});
  }
}

/// Sets choices that change nothing to their defaults.
void settle_idle(Plan& plan, const Job& job) {
  const Plan usual;
  each_choice([&](const auto& choice) {
    const auto matters = choice.traits.matters;
    if (matters != nullptr && !matters(job, plan)) put(choice, plan, choice.of(usual));
  });
  plan.overlap = effective_overlap_flags(job, plan);
}

/// Sets the rank order to the first one, by the enumerators of its axes, that gives the same grid:
/// on each side, axes of more than one rank keep their order.
void settle_rank_order(Plan& plan) {
  const RankGridAxisSizes axes = grid_axes(plan.parallel, plan.rank_order);
  unsigned before[kAxes] = {};  // bits of the axes that must come before this one
  unsigned dense = 0;
  unsigned expert = 0;
  for (const ParallelismAxis axis : plan.rank_order.axes) {
    const auto i = static_cast<std::size_t>(axis);
    if (axes.dense[i].size > 1) before[i] |= std::exchange(dense, dense | 1U << i);
    if (axes.expert[i].size > 1) before[i] |= std::exchange(expert, expert | 1U << i);
  }
  unsigned placed = 0;
  for (ParallelismAxis& place : plan.rank_order.axes) {
    for (unsigned i = 0; i < kAxes; ++i) {
      if ((placed & 1U << i) != 0 || (before[i] & ~placed) != 0) continue;
      place = static_cast<ParallelismAxis>(i);
      placed |= 1U << i;
      break;
    }
  }
}

}  // namespace

Plan canonical_plan(Plan plan, const Job& job) {
  plan.sharding = canonical_sharding(job, plan);
  settle_schedule(plan, job);
  settle_recompute(plan, job);
  settle_idle(plan, job);
  settle_rank_order(plan);
  if (plan.offload.optimizer == 0) plan.offload.masters = true;
  plan.offload.activations = effective_offload_modules(plan.offload.activations, plan.recompute);
  return plan;
}

}  // namespace stepwright::plan
