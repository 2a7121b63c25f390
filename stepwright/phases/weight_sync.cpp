#include "stepwright/phases/weight_sync.h"

#include <algorithm>

#include "stepwright/cost/cost_model.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/grid.h"
#include "stepwright/step/data_messages.h"

namespace stepwright::phases {
namespace {

/// Returns the share of the model's parameters in routed experts.
double routed_share(const plan::Plan& plan, const step::StepProgram& program) {
  double dense = 0;
  double routed = 0;
  for (const step::PipelineStageProgram& stage : program.stages) {
    dense += static_cast<double>(stage.dense_parameters * plan.parallel.tensor);
    routed += static_cast<double>(stage.expert_parameters * plan.parallel.expert *
                                  plan.parallel.expert_tensor);
  }
  return routed / (dense + routed);
}

void add_group(plan::StridedRanks& extents, const plan::RankGrid& grid,
               plan::CommunicatorKind kind) {
  for (const plan::StridedRankFactor& extent : grid.communicator_shape(kind).extents)
    extents.add(extent);
}

/// Adds the ranks that hold different shards of parameters with this spread.
void add_shards(plan::StridedRanks& extents, const plan::RankGrid& grid,
                const step::ShardingGroups& spread, plan::StateShardingScope parameters) {
  if (parameters == plan::StateShardingScope::kInner) add_group(extents, grid, spread.inner_group);
  if (parameters == plan::StateShardingScope::kGlobal) add_group(extents, grid, spread.world_group);
}

/// Returns the ranks over which the dense weights of one of `tensor` generating devices are split;
/// only those tensor ranks that together hold its part.
plan::CommunicatorShape dense_holders(const plan::Plan& plan, const plan::RankGrid& grid,
                                      std::int64_t tensor) {
  plan::CommunicatorShape shape;
  const std::int64_t merged = plan.parallel.tensor / std::min(tensor, plan.parallel.tensor);
  const plan::StridedRanks& ranks =
      grid.communicator_shape(plan::CommunicatorKind::kTensor).extents;
  if (merged > 1) shape.extents.add({merged, ranks[0].stride});
  add_shards(shape.extents, grid, step::dense_spread(plan), plan.sharding.parameters);
  add_group(shape.extents, grid, plan::CommunicatorKind::kPipeline);
  return shape;
}

plan::CommunicatorShape routed_holders(const plan::Plan& plan, const plan::RankGrid& grid) {
  plan::CommunicatorShape shape;
  add_group(shape.extents, grid, plan::CommunicatorKind::kExpertModel);
  add_shards(shape.extents, grid, step::routed_spread(plan), plan.sharding.parameters);
  add_group(shape.extents, grid, plan::CommunicatorKind::kPipeline);
  return shape;
}

double all_gather_s(const cost::CostModel& cost, double bytes, const cluster::GroupLayout& layout) {
  if (layout.size == 1) return 0;
  return cost
      .message_time(step::OperatorKind::kAllGather, bytes, layout,
                    collective::CollectiveAlgorithm::kLibrary, step::ParallelismScheme::kData)
      .seconds;
}

double model_bytes(const plan::Job& job, std::int64_t parameters) {
  return static_cast<double>(parameters) *
         static_cast<double>(bytes_of_elements(plan::parameter_storage_type(job.precision), 1));
}

}  // namespace

PolicyWeightSync predict_weight_sync(const plan::PlannedJob& planned,
                                     const step::StepProgram& program,
                                     const cluster::Cluster& whole) {
  const auto& [job, plan] = planned;
  const plan::RolloutSettings& rollout = *job.method.rollout;
  const auto parts = static_cast<double>(rollout.tensor);
  const bool apart = rollout.devices > 0;
  PolicyWeightSync sync;
  sync.bytes = model_bytes(job, job.model.adapters ? model::count_trained_parameters(job.model)
                                                   : model::count_parameters(job.model));
  sync.held_bytes = model_bytes(job, model::count_parameters(job.model)) / parts;
  const double bytes = apart ? sync.bytes : sync.bytes / parts;
  const double routed = routed_share(plan, program);
  const plan::RankGrid grid(plan);
  const cost::CostModel cost(job);
  const plan::CommunicatorShape dense = dense_holders(plan, grid, apart ? 1 : rollout.tensor);
  sync.gather_s =
      all_gather_s(cost, bytes * (1 - routed), plan::rank_group_network_layout(job.cluster, dense));
  if (routed > 0) {
    const plan::CommunicatorShape experts = routed_holders(plan, grid);
    sync.gather_s +=
        all_gather_s(cost, bytes * routed, plan::rank_group_network_layout(job.cluster, experts));
  }
  if (!apart) return sync;
  plan::Job both = job;
  both.cluster = whole;
  sync.broadcast_s =
      all_gather_s(cost::CostModel(both), sync.bytes,
                   cluster::network_layout_of_strided_group(whole, whole.devices(), 1));
  return sync;
}

}  // namespace stepwright::phases
