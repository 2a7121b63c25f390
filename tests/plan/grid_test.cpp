#include "stepwright/plan/grid.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "stepwright/core/error.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/shown.h"

namespace stepwright::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns a plan of sixteen ranks: tensor 2, context 2, data 2, pipeline 2; experts 2 x 2 x expert
/// data 2.
Plan worked_plan() {
  Plan plan;
  plan.parallel = {
      .tensor = 2, .pipeline = 2, .context = 2, .expert = 2, .expert_tensor = 2, .data = 2};
  plan.sharding = *sharding_of("IIG");
  plan.sharding.group = 2;
  plan.sharding.expert_group = 2;
  return plan;
}

TEST(Grid, LaysTheWorkedExample) {
  const Grid grid(worked_plan());
  EXPECT_EQ(grid.ranks(), 16);
  EXPECT_THAT(grid.members(GroupKind::kTensor, 5), ElementsAre(4, 5));
  EXPECT_THAT(grid.members(GroupKind::kContext, 5), ElementsAre(5, 7));
  EXPECT_THAT(grid.members(GroupKind::kDataContext, 5), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(grid.members(GroupKind::kShardInner, 5), ElementsAre(5, 7));
  EXPECT_THAT(grid.members(GroupKind::kShardOuter, 5), ElementsAre(1, 5));
  EXPECT_THAT(grid.members(GroupKind::kExpertTensor, 5), ElementsAre(4, 5));
  EXPECT_THAT(grid.members(GroupKind::kExpert, 5), ElementsAre(5, 7));
  EXPECT_THAT(grid.members(GroupKind::kExpertModel, 5), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(grid.members(GroupKind::kExpertData, 5), ElementsAre(1, 5));
  EXPECT_THAT(grid.members(GroupKind::kExpertShardInner, 5), ElementsAre(1, 5));
  EXPECT_THAT(grid.members(GroupKind::kExpertShardOuter, 5), ElementsAre(5));
  EXPECT_THAT(grid.members(GroupKind::kPipeline, 5), ElementsAre(5, 13));
  EXPECT_THAT(grid.members(GroupKind::kEmbedding, 5), ElementsAre(5, 13));
  EXPECT_THAT(grid.members(GroupKind::kNone, 5), ElementsAre(5));
  EXPECT_EQ(grid.size(GroupKind::kNorm), 16);
  EXPECT_EQ(grid.size(GroupKind::kWorld), 16);
}

TEST(Grid, NormGroupsFollowTheOptimizerStates) {
  Plan plan = worked_plan();
  plan.sharding = *sharding_of("NNN");
  EXPECT_THAT(Grid(plan).members(GroupKind::kNorm, 5), ElementsAre(4, 5, 12, 13));
  EXPECT_THAT(Grid(plan).members(GroupKind::kExpertNorm, 0), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  plan.sharding = *sharding_of("III");
  plan.sharding.group = 2;
  EXPECT_THAT(Grid(plan).members(GroupKind::kNorm, 5), ElementsAre(4, 5, 6, 7, 12, 13, 14, 15));
  EXPECT_EQ(Grid(plan).size(GroupKind::kExpertNorm), 8);
  plan.sharding.expert_group = 2;
  EXPECT_EQ(Grid(plan).size(GroupKind::kExpertNorm), 16);
}

TEST(Grid, ShardsOverDataAcrossThePipelineAxis) {
  Plan plan;
  plan.parallel = {.tensor = 1, .pipeline = 2, .context = 2, .data = 4};
  plan.rank_order = *parse_rank_order("tp-cp-ep-pp-dp");
  plan.sharding = *sharding_of("III");
  plan.sharding.group = 4;
  const Grid grid(plan);
  EXPECT_THAT(grid.members(GroupKind::kDataContext, 0), ElementsAre(0, 1, 4, 5, 8, 9, 12, 13));
  EXPECT_THAT(grid.members(GroupKind::kShardInner, 9), ElementsAre(8, 9, 12, 13));
  EXPECT_THAT(grid.members(GroupKind::kShardOuter, 9), ElementsAre(1, 9));
}

TEST(Grid, OnlyTheEndsOfThePipelineShareEmbeddings) {
  Plan plan;
  plan.parallel = {.tensor = 2, .pipeline = 4};
  const Grid grid(plan);
  EXPECT_THAT(grid.members(GroupKind::kEmbedding, 1), ElementsAre(1, 7));
  EXPECT_THAT(grid.members(GroupKind::kEmbedding, 7), ElementsAre(1, 7));
  EXPECT_THAT(grid.members(GroupKind::kEmbedding, 3), IsEmpty());
  EXPECT_EQ(grid.size(GroupKind::kEmbedding), 2);
}

TEST(Grid, RefusesDegreesThatFormNoGrid) {
  const auto refused = [](const Plan& plan) {
    try {
      static_cast<void>(Grid(plan));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kInput;
    }
    return false;
  };
  Plan plan = worked_plan();
  plan.parallel.expert = 3;
  EXPECT_TRUE(refused(plan));
  plan = worked_plan();
  plan.parallel.tensor = 0;
  EXPECT_TRUE(refused(plan));
  plan = worked_plan();
  plan.sharding.group = 3;
  EXPECT_TRUE(refused(plan));
}

/// Computes the position of each rank by counting all ranks along the axes: slow, but independent
/// of the library.
std::vector<std::map<Axis, std::int64_t>> count_up(const RankOrder& order,
                                                   const std::map<Axis, std::int64_t>& sizes) {
  std::vector<std::map<Axis, std::int64_t>> places = {{}};
  for (const Axis axis : order.axes) {
    if (!sizes.contains(axis)) continue;
    std::vector<std::map<Axis, std::int64_t>> more;
    for (std::int64_t i = 0; i < sizes.at(axis); ++i) {
      for (auto place : places) {
        place[axis] = i;
        more.push_back(place);
      }
    }
    places = more;
  }
  return places;
}

TEST(Grid, PlacesRanksAsCountingUpDoes) {
  Dice dice(1);
  for (int i = 0; i < 300; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const Parallel& sizes = plan.parallel;
    const Grid grid(plan);
    const auto dense = count_up(plan.rank_order, {{Axis::kTensor, sizes.tensor},
                                                  {Axis::kContext, sizes.context},
                                                  {Axis::kData, sizes.data},
                                                  {Axis::kPipeline, sizes.pipeline}});
    const auto expert = count_up(plan.rank_order, {{Axis::kTensor, sizes.expert_tensor},
                                                   {Axis::kExpert, sizes.expert},
                                                   {Axis::kData, sizes.expert_data()},
                                                   {Axis::kPipeline, sizes.pipeline}});
    ASSERT_EQ(std::ssize(dense), grid.ranks());
    ASSERT_EQ(std::ssize(expert), grid.ranks());
    for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
      const RankCoordinates at = grid.coordinates(rank);
      const auto& place = dense[static_cast<std::size_t>(rank)];
      const auto& routed = expert[static_cast<std::size_t>(rank)];
      EXPECT_EQ(at.tensor, place.at(Axis::kTensor));
      EXPECT_EQ(at.context, place.at(Axis::kContext));
      EXPECT_EQ(at.data, place.at(Axis::kData));
      EXPECT_EQ(at.pipeline, place.at(Axis::kPipeline));
      // Without experts the expert side has no ranks of its own.
      EXPECT_TRUE(!job.model.experts || at.pipeline == routed.at(Axis::kPipeline));
      EXPECT_EQ(at.expert_tensor, routed.at(Axis::kTensor));
      EXPECT_EQ(at.expert, routed.at(Axis::kExpert));
      EXPECT_EQ(at.expert_data, routed.at(Axis::kData));
      EXPECT_EQ(grid.rank_at(at.tensor, at.context, at.data, at.pipeline), rank);
    }
  }
}

/// Returns the coordinates that all ranks of a group share.
std::vector<std::int64_t> common_of(GroupKind kind, const RankCoordinates& at) {
  switch (kind) {
    case GroupKind::kTensor: return {at.context, at.data, at.pipeline};
    case GroupKind::kContext: return {at.tensor, at.data, at.pipeline};
    case GroupKind::kDataContext: return {at.tensor, at.pipeline};
    case GroupKind::kExpert: return {at.expert_tensor, at.expert_data, at.pipeline};
    case GroupKind::kExpertTensor: return {at.expert, at.expert_data, at.pipeline};
    case GroupKind::kExpertModel: return {at.expert_data, at.pipeline};
    case GroupKind::kExpertData: return {at.expert, at.expert_tensor, at.pipeline};
    case GroupKind::kPipeline: return {at.tensor, at.context, at.data};
    default: return {};
  }
}

TEST(Grid, GroupsHoldAllRanksThatAgreeInTheOtherCoordinates) {
  Dice dice(2);
  for (int i = 0; i < 200; ++i) {
    const Job job = random_good_job(dice);
    const Grid grid(random_legal_plan(dice, job));
    for (const GroupKind kind :
         {GroupKind::kTensor, GroupKind::kContext, GroupKind::kDataContext, GroupKind::kExpert,
          GroupKind::kExpertTensor, GroupKind::kExpertModel, GroupKind::kExpertData,
          GroupKind::kPipeline, GroupKind::kWorld}) {
      if (is_expert_communicator(kind) && !job.model.experts) continue;
      std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> groups;
      for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
        groups[common_of(kind, grid.coordinates(rank))].push_back(rank);
      }
      for (const auto& [common, ranks] : groups) {
        for (const std::int64_t rank : ranks) EXPECT_EQ(grid.members(kind, rank), ranks);
      }
    }
  }
}

TEST(Grid, GroupsOfEveryKindPartitionTheRanks) {
  Dice dice(3);
  for (int i = 0; i < 200; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const Grid grid(plan);
    for (const auto& [kind, name] : kGroupNames) {
      std::set<std::vector<std::int64_t>> groups;
      std::size_t members = 0;
      for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
        const std::vector<std::int64_t> group = grid.members(kind, rank);
        const bool between = kind == GroupKind::kEmbedding && group.empty();
        members += between ? 1 : 0;
        if (between) continue;
        EXPECT_TRUE(std::ranges::is_sorted(group)) << name;
        EXPECT_TRUE(std::ranges::binary_search(group, rank)) << name;
        EXPECT_EQ(std::ssize(group), grid.size(kind)) << name;
        groups.insert(group);
      }
      for (const auto& group : groups) members += group.size();
      EXPECT_EQ(static_cast<std::int64_t>(members), grid.ranks()) << name << shown(plan);
    }
  }
}

/// Expects one group kind to be the runs of `size` members, and another the members at equal
/// positions of these runs.
void expect_cut(const Grid& grid, GroupKind whole, GroupKind inner, GroupKind outer,
                std::int64_t size) {
  for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
    const std::vector<std::int64_t> group = grid.members(whole, rank);
    const auto place = std::ranges::find(group, rank) - group.begin();
    std::vector<std::int64_t> run;
    std::vector<std::int64_t> rail;
    for (std::int64_t i = 0; i < std::ssize(group); ++i) {
      if (i / size == place / size) run.push_back(group[static_cast<std::size_t>(i)]);
      if (i % size == place % size) rail.push_back(group[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(grid.members(inner, rank), run);
    EXPECT_EQ(grid.members(outer, rank), rail);
  }
}

TEST(Grid, ShardingGroupsAreRunsAndRails) {
  Dice dice(4);
  for (int i = 0; i < 200; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const Grid grid(plan);
    expect_cut(grid, GroupKind::kDataContext, GroupKind::kShardInner, GroupKind::kShardOuter,
               plan.sharding.group);
    expect_cut(grid, GroupKind::kExpertData, GroupKind::kExpertShardInner,
               GroupKind::kExpertShardOuter, plan.sharding.expert_group);
  }
}

TEST(NodeGroup, IsTheLargestThatNeverLeavesANode) {
  Plan plan;
  plan.parallel = {.tensor = 2, .data = 8};
  EXPECT_EQ(node_sharding_group_size(small_cluster(2, 8), plan), 4);
  EXPECT_EQ(node_sharding_group_size(small_cluster(1, 16), plan), 8);
  EXPECT_EQ(node_sharding_group_size(small_cluster(8, 2), plan), 1);
  plan.parallel = {.tensor = 1, .data = 12};
  EXPECT_EQ(node_sharding_group_size(small_cluster(2, 6), plan), 6);
  EXPECT_EQ(node_sharding_group_size(small_cluster(3, 4), plan), 4);
  plan.parallel = {.tensor = 4, .expert = 2, .data = 4};
  EXPECT_EQ(node_expert_sharding_group_size(small_cluster(2, 8), plan), 4);
}

}  // namespace
}  // namespace stepwright::plan
