#include "stepwright/plan/grid.h"

#include <algorithm>

#include "stepwright/core/error.h"

namespace stepwright::plan {
namespace {

constexpr std::size_t index_of(ParallelismAxis axis) { return static_cast<std::size_t>(axis); }

/// Sets the stride of every axis: the number of ranks of all faster axes.
void lay_strides(const RankOrder& order, std::array<StridedRankFactor, kAxes>& side) {
  std::int64_t stride = 1;
  for (const ParallelismAxis axis : order.axes) {
    side[index_of(axis)].stride = stride;
    stride *= side[index_of(axis)].size;
  }
}

StridedRanks product(std::initializer_list<StridedRankFactor> factors) {
  StridedRanks extents;
  for (const StridedRankFactor& factor : factors) extents.add(factor);
  return extents;
}

void add_all(StridedRanks& to, const StridedRanks& from) {
  for (const StridedRankFactor& factor : from) to.add(factor);
}

SplitRankGroup cut_or_fail(const StridedRanks& group, std::int64_t size) {
  std::optional<SplitRankGroup> parts = cut_into_rank_runs(group, size);
  if (!parts) fail_input("the plan has no rank grid: a sharding group does not cut its group");
  return *parts;
}

}  // namespace

RankGridAxisSizes grid_axes(const ParallelismDegrees& parallel, const RankOrder& order) {
  const auto& [tensor, pipeline, context, expert, expert_tensor, data] = parallel;
  RankGridAxisSizes axes;
  axes.dense[index_of(ParallelismAxis::kTensor)].size = tensor;
  axes.dense[index_of(ParallelismAxis::kContext)].size = context;
  axes.dense[index_of(ParallelismAxis::kData)].size = data;
  axes.dense[index_of(ParallelismAxis::kPipeline)].size = pipeline;
  axes.expert[index_of(ParallelismAxis::kTensor)].size = expert_tensor;
  axes.expert[index_of(ParallelismAxis::kExpert)].size = expert;
  axes.expert[index_of(ParallelismAxis::kData)].size =
      tensor * context * data / (expert_tensor * expert);
  axes.expert[index_of(ParallelismAxis::kPipeline)].size = pipeline;
  lay_strides(order, axes.dense);
  lay_strides(order, axes.expert);
  return axes;
}

StridedRanks data_context_rank_factors(const RankGridAxisSizes& axes) {
  return product({axes.dense[index_of(ParallelismAxis::kContext)],
                  axes.dense[index_of(ParallelismAxis::kData)]});
}

StridedRanks expert_data_rank_factors(const RankGridAxisSizes& axes) {
  return product({axes.expert[index_of(ParallelismAxis::kData)]});
}

RankGrid::RankGrid(const Plan& plan) {
  const ParallelismDegrees& sizes = plan.parallel;
  const std::int64_t least = std::min(
      {sizes.tensor, sizes.pipeline, sizes.context, sizes.expert, sizes.expert_tensor, sizes.data});
  if (least < 1 || sizes.expert_data_degree() < 1) {
    fail_input("the plan has no rank grid: its degrees of parallelism do not divide each other");
  }
  const RankGridAxisSizes axes = grid_axes(sizes, plan.rank_order);
  ranks_ = sizes.ranks();
  tensor_ = axes.dense[index_of(ParallelismAxis::kTensor)];
  context_ = axes.dense[index_of(ParallelismAxis::kContext)];
  data_ = axes.dense[index_of(ParallelismAxis::kData)];
  pipeline_ = axes.dense[index_of(ParallelismAxis::kPipeline)];
  expert_tensor_ = axes.expert[index_of(ParallelismAxis::kTensor)];
  expert_ = axes.expert[index_of(ParallelismAxis::kExpert)];
  expert_data_ = axes.expert[index_of(ParallelismAxis::kData)];
  lay_dense(plan.sharding);
  lay_experts(plan.sharding);
  lay_embedding();
  at(CommunicatorKind::kPipeline).extents = product({pipeline_});
  at(CommunicatorKind::kWorld).extents = product({{ranks_, 1}});
}

void RankGrid::lay_dense(const Sharding& sharding) {
  const StridedRanks replicas = product({context_, data_});
  const SplitRankGroup parts = cut_or_fail(replicas, sharding.group);
  at(CommunicatorKind::kTensor).extents = product({tensor_});
  at(CommunicatorKind::kContext).extents = product({context_});
  at(CommunicatorKind::kDataContext).extents = replicas;
  at(CommunicatorKind::kShardInner).extents = parts.inner;
  at(CommunicatorKind::kShardOuter).extents = parts.outer;
  StridedRanks& norm = at(CommunicatorKind::kNorm).extents;
  norm = product({tensor_, pipeline_});
  if (sharding.optimizer == StateShardingScope::kInner) add_all(norm, parts.inner);
  if (sharding.optimizer == StateShardingScope::kGlobal) norm = product({{ranks_, 1}});
}

void RankGrid::lay_experts(const Sharding& sharding) {
  const StridedRanks replicas = product({expert_data_});
  const SplitRankGroup parts = cut_or_fail(replicas, sharding.expert_group);
  at(CommunicatorKind::kExpert).extents = product({expert_});
  at(CommunicatorKind::kExpertTensor).extents = product({expert_tensor_});
  at(CommunicatorKind::kExpertModel).extents = product({expert_tensor_, expert_});
  at(CommunicatorKind::kExpertData).extents = replicas;
  at(CommunicatorKind::kExpertShardInner).extents = parts.inner;
  at(CommunicatorKind::kExpertShardOuter).extents = parts.outer;
  StridedRanks& norm = at(CommunicatorKind::kExpertNorm).extents;
  norm = product({expert_tensor_, expert_, pipeline_});
  if (sharding.optimizer == StateShardingScope::kInner) add_all(norm, parts.inner);
  if (sharding.optimizer == StateShardingScope::kGlobal) norm = product({{ranks_, 1}});
}

void RankGrid::lay_embedding() {
  const auto& [stages, stride] = pipeline_;
  if (stages == 1) return;
  CommunicatorShape& ends = at(CommunicatorKind::kEmbedding);
  ends.extents = product({{2, stride * (stages - 1)}});
  ends.idle = stride * (stages - 2);
}

RankCoordinates RankGrid::coordinates(std::int64_t rank) const {
  const auto along = [rank](const StridedRankFactor& axis) {
    return rank / axis.stride % axis.size;
  };
  return {.tensor = along(tensor_),
          .context = along(context_),
          .data = along(data_),
          .pipeline = along(pipeline_),
          .expert = along(expert_),
          .expert_tensor = along(expert_tensor_),
          .expert_data = along(expert_data_)};
}

std::int64_t RankGrid::rank_at_coordinates(std::int64_t tensor, std::int64_t context,
                                           std::int64_t data, std::int64_t pipeline) const {
  return tensor * tensor_.stride + context * context_.stride + data * data_.stride +
         pipeline * pipeline_.stride;
}

std::vector<std::int64_t> RankGrid::group_ranks_containing(CommunicatorKind kind,
                                                           std::int64_t rank) const {
  const StridedRanks& extents = communicator_shape(kind).extents;
  std::int64_t first = extents.first_rank_of_group(rank);
  if (kind == CommunicatorKind::kEmbedding) {
    const std::int64_t stage = coordinates(rank).pipeline;
    if (stage != 0 && stage != pipeline_.size - 1) return {};
    first = rank - stage * pipeline_.stride;
  }
  std::vector<std::int64_t> ranks = {first};
  ranks.reserve(static_cast<std::size_t>(extents.size()));
  for (const StridedRankFactor& factor : extents) {
    const std::size_t before = ranks.size();
    for (std::int64_t i = 1; i < factor.size; ++i) {
      for (std::size_t j = 0; j < before; ++j) ranks.push_back(ranks[j] + i * factor.stride);
    }
  }
  return ranks;
}

}  // namespace stepwright::plan
