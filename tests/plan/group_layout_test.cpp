#include <gmock/gmock.h>

#include <set>

#include "stepwright/plan/grid.h"
#include "tests/plan/random_plans.h"

namespace stepwright::plan {
namespace {

using Group = std::vector<std::int64_t>;

/// Returns a cluster whose level sizes are the products of the factors: {4, 2, 3} joins 4, 8 and 24
/// devices.
cluster::Cluster cluster_of(const std::vector<std::int64_t>& factors) {
  cluster::Cluster cluster = small_cluster(1, 1);
  cluster.levels.clear();
  std::int64_t size = 1;
  for (const std::int64_t factor : factors) {
    size *= factor;
    cluster.levels.push_back({.name = "level", .size = size, .uplink_bytes_per_s = 1e9});
  }
  cluster.devices_per_node = cluster.levels.front().size;
  cluster.nodes = size / cluster.devices_per_node;
  return cluster;
}

std::set<Group> groups_of(const RankGrid& grid, CommunicatorKind kind) {
  std::set<Group> groups;
  for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
    const Group group = grid.group_ranks_containing(kind, rank);
    if (!group.empty()) groups.insert(group);
  }
  return groups;
}

std::int64_t members_in(const Group& group, std::int64_t begin, std::int64_t end) {
  return std::ranges::count_if(group, [=](auto rank) { return begin <= rank && rank < end; });
}

/// Computes `GroupLayout` by its definition, from every group and every unit.
cluster::GroupLayout counted_layout(const cluster::Cluster& cluster,
                                    const std::set<Group>& groups) {
  cluster::GroupLayout layout;
  layout.size = std::ssize(*groups.begin());
  layout.levels = static_cast<int>(cluster.levels.size());
  std::int64_t lower = 1;
  for (int i = 0; i < layout.levels; ++i) {
    const std::int64_t unit = cluster.levels[i].size;
    for (std::int64_t begin = 0; begin < cluster.devices(); begin += unit) {
      for (const Group& group : groups) {
        layout.members[i] = std::max(layout.members[i], members_in(group, begin, begin + unit));
      }
    }
    for (std::int64_t begin = 0; begin < cluster.devices(); begin += lower) {
      const auto leaving = std::ranges::count_if(groups, [&](const Group& group) {
        const std::int64_t inside = members_in(group, begin, begin + lower);
        return 0 < inside && inside < layout.size;
      });
      layout.sharers[i] = std::max<std::int64_t>(layout.sharers[i], leaving);
    }
    if (layout.sharers[i] > 0) layout.span = i;
    lower = unit;
  }
  return layout;
}

/// True if blocks of `size` ranks at `stride` and units of `unit` ranks nest.
bool nests(std::int64_t unit, std::int64_t size, std::int64_t stride) {
  const std::int64_t block = size * stride;
  return unit % block == 0 || stride % unit == 0 || (unit % stride == 0 && block % unit == 0);
}

bool nests(const cluster::Cluster& cluster, const CommunicatorShape& shape) {
  return std::ranges::all_of(cluster.levels, [&](const cluster::NetworkLevel& level) {
    return std::ranges::all_of(shape.extents, [&](const StridedRankFactor& factor) {
      if (shape.idle == 0) return nests(level.size, factor.size, factor.stride);
      const std::int64_t stage = factor.stride - shape.idle;
      return nests(level.size, factor.stride / stage + 1, stage);
    });
  });
}

Job job_on(const cluster::Cluster& cluster, bool experts) {
  Job job = experts ? small_expert_job() : small_job();
  job.cluster = cluster;
  job.model.layers = 24;
  job.model.heads = job.model.kv_heads = 48;
  job.model.ffn = 96;
  job.sequences = job.length = 96;
  return job;
}

TEST(GroupLayout, IsExactWhereGroupsAndUnitsNest) {
  Dice dice(5);
  int several = 0;
  int idle = 0;
  for (int i = 0; i < 3000; ++i) {
    const cluster::Cluster cluster = cluster_of(dice.pick<std::vector<std::int64_t>>(
        {{8, 2}, {2, 2, 4}, {4, 2, 3}, {16}, {4, 6}, {3, 4, 2}}));
    const RankGrid grid(random_legal_plan(dice, job_on(cluster, dice.chance(2))));
    for (const auto& [kind, name] : kGroupNames) {
      const CommunicatorShape& shape = grid.communicator_shape(kind);
      if (!nests(cluster, shape)) continue;
      EXPECT_EQ(rank_group_network_layout(cluster, shape),
                counted_layout(cluster, groups_of(grid, kind)))
          << name;
      several += shape.extents.count() > 1 ? 1 : 0;
      idle += shape.idle > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(several, 100);
  EXPECT_GT(idle, 20);
}

TEST(GroupLayout, KnowsWhichLevelsAreCrossedWhereTheyDoNotNest) {
  Dice dice(6);
  for (int i = 0; i < 400; ++i) {
    const cluster::Cluster cluster = cluster_of(
        dice.pick<std::vector<std::int64_t>>({{6, 4}, {3, 8}, {12, 2}, {3, 2, 4}, {9, 4}}));
    const RankGrid grid(random_legal_plan(dice, job_on(cluster, dice.chance(2))));
    for (const auto& [kind, name] : kGroupNames) {
      const cluster::GroupLayout layout =
          rank_group_network_layout(cluster, grid.communicator_shape(kind));
      const cluster::GroupLayout counted = counted_layout(cluster, groups_of(grid, kind));
      EXPECT_EQ(layout.size, counted.size) << name;
      EXPECT_EQ(layout.span, counted.span) << name;
      for (int level = 0; level < layout.levels; ++level) {
        EXPECT_EQ(layout.sharers[level] > 0, counted.sharers[level] > 0) << name;
        EXPECT_GE(layout.members[level], 1) << name;
        EXPECT_LE(layout.members[level], counted.members[level]) << name;
      }
    }
  }
}

TEST(GroupLayout, WorksTheNormOfTwoStagesByHand) {
  // Tensor 4 inside nodes of 8, data 4, pipeline 2 over 4 nodes: norm over tensor x pipeline.
  Plan plan;
  plan.parallel = {.tensor = 4, .pipeline = 2, .data = 4};
  const RankGrid grid(plan);
  const cluster::GroupLayout layout = rank_group_network_layout(
      cluster_of({8, 4}), grid.communicator_shape(CommunicatorKind::kNorm));
  EXPECT_EQ(layout.size, 8);
  EXPECT_EQ(layout.members[0], 4);
  EXPECT_EQ(layout.members[1], 8);
  EXPECT_EQ(layout.sharers[0], 1);
  EXPECT_EQ(layout.sharers[1], 2);
  EXPECT_EQ(layout.span, 1);
}

}  // namespace
}  // namespace stepwright::plan
