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
  plan.sharding = *sharding_named_by_word("IIG");
  plan.sharding.group = 2;
  plan.sharding.expert_group = 2;
  return plan;
}

TEST(RankGrid, LaysTheWorkedExample) {
  const RankGrid grid(worked_plan());
  EXPECT_EQ(grid.ranks(), 16);
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kTensor, 5), ElementsAre(4, 5));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kContext, 5), ElementsAre(5, 7));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kDataContext, 5),
              ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kShardInner, 5), ElementsAre(5, 7));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kShardOuter, 5), ElementsAre(1, 5));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kExpertTensor, 5), ElementsAre(4, 5));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kExpert, 5), ElementsAre(5, 7));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kExpertModel, 5),
              ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kExpertData, 5), ElementsAre(1, 5));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kExpertShardInner, 5),
              ElementsAre(1, 5));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kExpertShardOuter, 5), ElementsAre(5));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kPipeline, 5), ElementsAre(5, 13));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kEmbedding, 5), ElementsAre(5, 13));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kNone, 5), ElementsAre(5));
  EXPECT_EQ(grid.size(CommunicatorKind::kNorm), 16);
  EXPECT_EQ(grid.size(CommunicatorKind::kWorld), 16);
}

TEST(RankGrid, NormGroupsFollowTheOptimizerStates) {
  Plan plan = worked_plan();
  plan.sharding = *sharding_named_by_word("NNN");
  EXPECT_THAT(RankGrid(plan).group_ranks_containing(CommunicatorKind::kNorm, 5),
              ElementsAre(4, 5, 12, 13));
  EXPECT_THAT(RankGrid(plan).group_ranks_containing(CommunicatorKind::kExpertNorm, 0),
              ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  plan.sharding = *sharding_named_by_word("III");
  plan.sharding.group = 2;
  EXPECT_THAT(RankGrid(plan).group_ranks_containing(CommunicatorKind::kNorm, 5),
              ElementsAre(4, 5, 6, 7, 12, 13, 14, 15));
  EXPECT_EQ(RankGrid(plan).size(CommunicatorKind::kExpertNorm), 8);
  plan.sharding.expert_group = 2;
  EXPECT_EQ(RankGrid(plan).size(CommunicatorKind::kExpertNorm), 16);
}

TEST(RankGrid, ShardsOverDataAcrossThePipelineAxis) {
  Plan plan;
  plan.parallel = {.tensor = 1, .pipeline = 2, .context = 2, .data = 4};
  plan.rank_order = *parse_rank_order("tp-cp-ep-pp-dp");
  plan.sharding = *sharding_named_by_word("III");
  plan.sharding.group = 4;
  const RankGrid grid(plan);
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kDataContext, 0),
              ElementsAre(0, 1, 4, 5, 8, 9, 12, 13));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kShardInner, 9),
              ElementsAre(8, 9, 12, 13));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kShardOuter, 9), ElementsAre(1, 9));
}

TEST(RankGrid, OnlyTheEndsOfThePipelineShareEmbeddings) {
  Plan plan;
  plan.parallel = {.tensor = 2, .pipeline = 4};
  const RankGrid grid(plan);
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kEmbedding, 1), ElementsAre(1, 7));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kEmbedding, 7), ElementsAre(1, 7));
  EXPECT_THAT(grid.group_ranks_containing(CommunicatorKind::kEmbedding, 3), IsEmpty());
  EXPECT_EQ(grid.size(CommunicatorKind::kEmbedding), 2);
}

TEST(RankGrid, RefusesDegreesThatFormNoGrid) {
  const auto refused = [](const Plan& plan) {
    try {
      static_cast<void>(RankGrid(plan));
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
std::vector<std::map<ParallelismAxis, std::int64_t>> count_up(
    const RankOrder& order, const std::map<ParallelismAxis, std::int64_t>& sizes) {
  std::vector<std::map<ParallelismAxis, std::int64_t>> places = {{}};
  for (const ParallelismAxis axis : order.axes) {
    if (!sizes.contains(axis)) continue;
    std::vector<std::map<ParallelismAxis, std::int64_t>> more;
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

TEST(RankGrid, PlacesRanksAsCountingUpDoes) {
  Dice dice(1);
  for (int i = 0; i < 300; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const ParallelismDegrees& sizes = plan.parallel;
    const RankGrid grid(plan);
    const auto dense = count_up(plan.rank_order, {{ParallelismAxis::kTensor, sizes.tensor},
                                                  {ParallelismAxis::kContext, sizes.context},
                                                  {ParallelismAxis::kData, sizes.data},
                                                  {ParallelismAxis::kPipeline, sizes.pipeline}});
    const auto expert =
        count_up(plan.rank_order, {{ParallelismAxis::kTensor, sizes.expert_tensor},
                                   {ParallelismAxis::kExpert, sizes.expert},
                                   {ParallelismAxis::kData, sizes.expert_data_degree()},
                                   {ParallelismAxis::kPipeline, sizes.pipeline}});
    ASSERT_EQ(std::ssize(dense), grid.ranks());
    ASSERT_EQ(std::ssize(expert), grid.ranks());
    for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
      const RankCoordinates at = grid.coordinates(rank);
      const auto& place = dense[static_cast<std::size_t>(rank)];
      const auto& routed = expert[static_cast<std::size_t>(rank)];
      EXPECT_EQ(at.tensor, place.at(ParallelismAxis::kTensor));
      EXPECT_EQ(at.context, place.at(ParallelismAxis::kContext));
      EXPECT_EQ(at.data, place.at(ParallelismAxis::kData));
      EXPECT_EQ(at.pipeline, place.at(ParallelismAxis::kPipeline));
      // Without experts the expert side has no ranks of its own.
      EXPECT_TRUE(!job.model.experts || at.pipeline == routed.at(ParallelismAxis::kPipeline));
      EXPECT_EQ(at.expert_tensor, routed.at(ParallelismAxis::kTensor));
      EXPECT_EQ(at.expert, routed.at(ParallelismAxis::kExpert));
      EXPECT_EQ(at.expert_data, routed.at(ParallelismAxis::kData));
      EXPECT_EQ(grid.rank_at_coordinates(at.tensor, at.context, at.data, at.pipeline), rank);
    }
  }
}

/// Returns the coordinates that all ranks of a group share.
std::vector<std::int64_t> common_of(CommunicatorKind kind, const RankCoordinates& at) {
  switch (kind) {
    case CommunicatorKind::kTensor: return {at.context, at.data, at.pipeline};
    case CommunicatorKind::kContext: return {at.tensor, at.data, at.pipeline};
    case CommunicatorKind::kDataContext: return {at.tensor, at.pipeline};
    case CommunicatorKind::kExpert: return {at.expert_tensor, at.expert_data, at.pipeline};
    case CommunicatorKind::kExpertTensor: return {at.expert, at.expert_data, at.pipeline};
    case CommunicatorKind::kExpertModel: return {at.expert_data, at.pipeline};
    case CommunicatorKind::kExpertData: return {at.expert, at.expert_tensor, at.pipeline};
    case CommunicatorKind::kPipeline: return {at.tensor, at.context, at.data};
    default: return {};
  }
}

TEST(RankGrid, GroupsHoldAllRanksThatAgreeInTheOtherCoordinates) {
  Dice dice(2);
  for (int i = 0; i < 200; ++i) {
    const Job job = random_good_job(dice);
    const RankGrid grid(random_legal_plan(dice, job));
    for (const CommunicatorKind kind :
         {CommunicatorKind::kTensor, CommunicatorKind::kContext, CommunicatorKind::kDataContext,
          CommunicatorKind::kExpert, CommunicatorKind::kExpertTensor,
          CommunicatorKind::kExpertModel, CommunicatorKind::kExpertData,
          CommunicatorKind::kPipeline, CommunicatorKind::kWorld}) {
      if (is_expert_communicator(kind) && !job.model.experts) continue;
      std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> groups;
      for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
        groups[common_of(kind, grid.coordinates(rank))].push_back(rank);
      }
      for (const auto& [common, ranks] : groups) {
        for (const std::int64_t rank : ranks)
          EXPECT_EQ(grid.group_ranks_containing(kind, rank), ranks);
      }
    }
  }
}

TEST(RankGrid, GroupsOfEveryKindPartitionTheRanks) {
  Dice dice(3);
  for (int i = 0; i < 200; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const RankGrid grid(plan);
    for (const auto& [kind, name] : kGroupNames) {
      std::set<std::vector<std::int64_t>> groups;
      std::size_t members = 0;
      for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
        const std::vector<std::int64_t> group = grid.group_ranks_containing(kind, rank);
        const bool between = kind == CommunicatorKind::kEmbedding && group.empty();
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
void expect_cut(const RankGrid& grid, CommunicatorKind whole, CommunicatorKind inner,
                CommunicatorKind outer, std::int64_t size) {
  for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
    const std::vector<std::int64_t> group = grid.group_ranks_containing(whole, rank);
    const auto place = std::ranges::find(group, rank) - group.begin();
    std::vector<std::int64_t> run;
    std::vector<std::int64_t> rail;
    for (std::int64_t i = 0; i < std::ssize(group); ++i) {
      if (i / size == place / size) run.push_back(group[static_cast<std::size_t>(i)]);
      if (i % size == place % size) rail.push_back(group[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(grid.group_ranks_containing(inner, rank), run);
    EXPECT_EQ(grid.group_ranks_containing(outer, rank), rail);
  }
}

TEST(RankGrid, ShardingGroupsAreRunsAndRails) {
  Dice dice(4);
  for (int i = 0; i < 200; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const RankGrid grid(plan);
    expect_cut(grid, CommunicatorKind::kDataContext, CommunicatorKind::kShardInner,
               CommunicatorKind::kShardOuter, plan.sharding.group);
    expect_cut(grid, CommunicatorKind::kExpertData, CommunicatorKind::kExpertShardInner,
               CommunicatorKind::kExpertShardOuter, plan.sharding.expert_group);
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
