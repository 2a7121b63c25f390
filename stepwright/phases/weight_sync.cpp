#include "stepwright/phases/weight_sync.h"

#include <algorithm>

#include "stepwright/cost/cost_model.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/grid.h"
#include "stepwright/step/data_messages.h"

namespace stepwright {
namespace {

/// The share of the model's parameters that routed experts are.
double routed_share(const Plan& plan, const StepProgram& program) {
  double dense = 0;
  double routed = 0;
  for (const Stage& stage : program.stages) {
    dense += static_cast<double>(stage.dense_parameters * plan.parallel.tensor);
    routed += static_cast<double>(stage.expert_parameters * plan.parallel.expert *
                                  plan.parallel.expert_tensor);
  }
  return routed / (dense + routed);
}

void add_group(Extents& extents, const Grid& grid, GroupKind kind) {
  for (const Extent& extent : grid.shape(kind).extents) extents.add(extent);
}

/// Ranks that hold different parts of the parameters of one spread.
void add_shards(Extents& extents, const Grid& grid, const StateSpread& spread, Spread parameters) {
  if (parameters == Spread::kInner) add_group(extents, grid, spread.inner_group);
  if (parameters == Spread::kGlobal) add_group(extents, grid, spread.world_group);
}

/// Ranks between which the dense weights of a device that holds one of `tensor` parts are: of the
/// tensor ranks those that share such a part.
GroupShape dense_holders(const Plan& plan, const Grid& grid, std::int64_t tensor) {
  GroupShape shape;
  const std::int64_t merged = plan.parallel.tensor / std::min(tensor, plan.parallel.tensor);
  const Extents& ranks = grid.shape(GroupKind::kTensor).extents;
  if (merged > 1) shape.extents.add({merged, ranks[0].stride});
  add_shards(shape.extents, grid, dense_spread(plan), plan.sharding.parameters);
  add_group(shape.extents, grid, GroupKind::kPipeline);
  return shape;
}

GroupShape routed_holders(const Plan& plan, const Grid& grid) {
  GroupShape shape;
  add_group(shape.extents, grid, GroupKind::kExpertModel);
  add_shards(shape.extents, grid, routed_spread(plan), plan.sharding.parameters);
  add_group(shape.extents, grid, GroupKind::kPipeline);
  return shape;
}

double all_gather_s(const CostModel& cost, double bytes, const GroupLayout& layout) {
  if (layout.size == 1) return 0;
  return cost.message(OperatorKind::kAllGather, bytes, layout, Algorithm::kLibrary, Scheme::kData)
      .seconds;
}

double model_bytes(const Job& job, std::int64_t parameters) {
  return static_cast<double>(parameters) *
         static_cast<double>(size_bytes(storage_type(job.precision), 1));
}

}  // namespace

WeightSync weight_sync(const PlannedJob& planned, const StepProgram& program,
                       const Cluster& whole) {
  const auto& [job, plan] = planned;
  const Rollout& rollout = *job.method.rollout;
  const auto parts = static_cast<double>(rollout.tensor);
  const bool apart = rollout.devices > 0;
  WeightSync sync;
  sync.bytes = model_bytes(
      job, job.model.adapters ? count_trained_parameters(job.model) : count_parameters(job.model));
  sync.held_bytes = model_bytes(job, count_parameters(job.model)) / parts;
  const double bytes = apart ? sync.bytes : sync.bytes / parts;
  const double routed = routed_share(plan, program);
  const Grid grid(plan);
  const CostModel cost(job);
  const GroupShape dense = dense_holders(plan, grid, apart ? 1 : rollout.tensor);
  sync.gather_s = all_gather_s(cost, bytes * (1 - routed), group_layout(job.cluster, dense));
  if (routed > 0) {
    const GroupShape experts = routed_holders(plan, grid);
    sync.gather_s += all_gather_s(cost, bytes * routed, group_layout(job.cluster, experts));
  }
  if (!apart) return sync;
  Job both = job;
  both.cluster = whole;
  sync.broadcast_s =
      all_gather_s(CostModel(both), sync.bytes, strided_layout(whole, whole.devices(), 1));
  return sync;
}

}  // namespace stepwright
