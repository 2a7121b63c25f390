#include <algorithm>

#include "stepwright/plan/grid.h"

namespace stepwright::plan {
namespace {

/// Blocks of consecutive ranks in which the groups of a shape repeat.
struct Blocks {
  std::int64_t ranks = 1;  ///< Number of ranks in one block.
  std::int64_t head = 0;   ///< Idle ranks before and after each block.

  explicit Blocks(const CommunicatorShape& shape) : ranks(shape.extents.block()) {
    if (shape.idle == 0) return;
    head = shape.extents[0].stride - shape.idle;
    ranks = shape.extents[0].stride + head;
  }

  /// Ranks below `limit` that belong to a group.
  [[nodiscard]] std::int64_t grouped_below(std::int64_t limit) const {
    if (head == 0) return limit;
    const std::int64_t rest = limit % ranks;
    return limit / ranks * 2 * head + std::min(rest, head) +
           std::max<std::int64_t>(0, rest - (ranks - head));
  }
};

/// Largest number of consecutive members of a group that divides it and always shares a unit of
/// `unit` ranks.
std::int64_t members_together(const StridedRanks& group, std::int64_t unit, std::int64_t ranks) {
  const std::int64_t most = group.size();
  for (std::int64_t size = std::min(most, unit); size > 1; --size) {
    if (most % size != 0) continue;
    const std::optional<SplitRankGroup> parts = cut_into_rank_runs(group, size);
    if (parts && (unit >= ranks || unit % parts->inner.block() == 0)) return size;
  }
  return 1;
}

}  // namespace

cluster::GroupLayout rank_group_network_layout(const cluster::Cluster& cluster,
                                               const CommunicatorShape& shape) {
  const StridedRanks& extents = shape.extents;
  if (extents.empty()) return cluster::network_layout_of_strided_group(cluster, 1, 1);
  if (extents.count() == 1 && shape.idle == 0) {
    return cluster::network_layout_of_strided_group(cluster, extents[0].size, extents[0].stride);
  }
  cluster::GroupLayout layout;
  layout.size = extents.size();
  layout.levels = std::min(static_cast<int>(cluster.levels.size()), cluster::kMaxLevels);
  const std::int64_t ranks = cluster.devices();
  const Blocks blocks(shape);
  std::int64_t lower = 1;
  for (int i = 0; i < layout.levels; ++i) {
    layout.members[i] = extents.count_ranks_below(std::min(cluster.levels[i].size, ranks));
    if (lower < ranks && lower % blocks.ranks != 0) {
      const std::int64_t inside = extents.count_ranks_below(lower);
      layout.sharers[i] = (blocks.grouped_below(lower) + inside - 1) / inside;
      layout.span = i;
    }
    lower = cluster.levels[i].size;
  }
  return layout;
}

std::int64_t node_sharding_group_size(const cluster::Cluster& cluster, const Plan& plan) {
  const RankGridAxisSizes axes = grid_axes(plan.parallel, plan.rank_order);
  return members_together(data_context_rank_factors(axes), cluster.devices_per_node,
                          cluster.devices());
}

std::int64_t node_expert_sharding_group_size(const cluster::Cluster& cluster, const Plan& plan) {
  const RankGridAxisSizes axes = grid_axes(plan.parallel, plan.rank_order);
  return members_together(expert_data_rank_factors(axes), cluster.devices_per_node,
                          cluster.devices());
}

}  // namespace stepwright::plan
