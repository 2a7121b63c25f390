// Shards, owners and gathers; slices of parameters; initial values.
#include <gtest/gtest.h>

#include <set>

#include "stepwright/runtime/states/initial_values.h"
#include "stepwright/runtime/states/state_layout.h"

namespace stepwright::runtime {
namespace {

/// Returns the blocks of a state that the ranks of a data-parallel group hold, each once for every
/// holder.
std::multiset<std::int64_t> held_blocks(const plan::Sharding& sharding, std::int64_t inner,
                                        std::int64_t world, plan::StateShardingScope spread,
                                        bool first_only) {
  std::multiset<std::int64_t> blocks;
  for (std::int64_t rank = 0; rank < world; ++rank) {
    const StateShardingLayout layout = state_sharding_layout(sharding, inner, world, rank);
    if (first_only && !layout.is_first_rank_holding_shard(spread)) continue;
    const ShardBlockRun run = layout.shard_blocks_on_this_rank(spread);
    for (std::int64_t i = 0; i < run.count; ++i) blocks.insert(run.first + i);
  }
  return blocks;
}

void expect_held(const plan::Sharding& sharding, std::int64_t inner, std::int64_t world) {
  const std::int64_t blocks = state_sharding_layout(sharding, inner, world, 0).blocks();
  for (const plan::StateShardingScope spread :
       {sharding.parameters, sharding.gradients, sharding.optimizer}) {
    const std::int64_t times = spread == plan::StateShardingScope::kNone    ? world
                               : spread == plan::StateShardingScope::kInner ? world / inner
                                                                            : 1;
    const auto all = held_blocks(sharding, inner, world, spread, false);
    const auto first = held_blocks(sharding, inner, world, spread, true);
    for (std::int64_t block = 0; block < blocks; ++block) {
      EXPECT_EQ(static_cast<std::int64_t>(all.count(block)), times);
      EXPECT_EQ(first.count(block), 1U);
    }
  }
}

TEST(StateShardingLayout, HoldsEveryBlockAsOftenAsItsSpreadSays) {
  for (const plan::Sharding& sharding : plan::paro_strategies()) {
    for (const std::int64_t world : {1, 2, 4, 6, 8, 12}) {
      for (std::int64_t inner = 1; inner <= world; ++inner) {
        if (world % inner == 0) expect_held(sharding, inner, world);
      }
    }
  }
}

TEST(StateShardingLayout, FinerShardsLieInCoarserOnes) {
  for (const plan::Sharding& sharding : plan::paro_strategies()) {
    for (std::int64_t rank = 0; rank < 12; ++rank) {
      const StateShardingLayout layout = state_sharding_layout(sharding, 3, 12, rank);
      const ShardBlockRun fine = layout.shard_blocks_on_this_rank(sharding.optimizer);
      for (const plan::StateShardingScope spread : {sharding.parameters, sharding.gradients}) {
        const ShardBlockRun coarse = layout.shard_blocks_on_this_rank(spread);
        EXPECT_GE(fine.first, coarse.first);
        EXPECT_LE(fine.first + fine.count, coarse.first + coarse.count);
      }
    }
  }
}

TEST(StateShardingLayout, TwoByTwoIsTheOneOfThePaper) {
  const plan::Sharding sharding{plan::StateShardingScope::kInner, plan::StateShardingScope::kGlobal,
                                plan::StateShardingScope::kGlobal, 2, 1};
  const auto held = [&](std::int64_t rank, plan::StateShardingScope spread) {
    return state_sharding_layout(sharding, 2, 4, rank).shard_blocks_on_this_rank(spread).first;
  };
  for (const std::int64_t rank : {0, 2}) EXPECT_EQ(held(rank, plan::StateShardingScope::kInner), 0);
  for (const std::int64_t rank : {1, 3}) EXPECT_EQ(held(rank, plan::StateShardingScope::kInner), 2);
  EXPECT_EQ(held(0, plan::StateShardingScope::kGlobal), 0);
  EXPECT_EQ(held(1, plan::StateShardingScope::kGlobal), 2);
  EXPECT_EQ(held(2, plan::StateShardingScope::kGlobal), 1);
  EXPECT_EQ(held(3, plan::StateShardingScope::kGlobal), 3);
}

TEST(InitialParameterValues, DependOnSeedNameAndIndexAlone) {
  const InitialParameterValues a(1, "layers.0.mlp.fc1", model::ParameterInitialization::kNormal, 4);
  const InitialParameterValues again(1, "layers.0.mlp.fc1", model::ParameterInitialization::kNormal,
                                     4);
  const InitialParameterValues other(1, "layers.1.mlp.fc1", model::ParameterInitialization::kNormal,
                                     4);
  const InitialParameterValues seeded(2, "layers.0.mlp.fc1",
                                      model::ParameterInitialization::kNormal, 4);
  EXPECT_EQ(a.at(17), again.at(17));
  EXPECT_NE(a.at(17), other.at(17));
  EXPECT_NE(a.at(17), seeded.at(17));
  EXPECT_EQ(a.at(-1), 0);
  EXPECT_EQ(InitialParameterValues(1, "norm.final", model::ParameterInitialization::kOnes, 4).at(3),
            1);
  EXPECT_EQ(
      InitialParameterValues(1, "mlp.fc1_bias", model::ParameterInitialization::kZeros, 4).at(3),
      0);
}

TEST(InitialParameterValues, AreNormal) {
  const InitialParameterValues values(5, "embedding.word", model::ParameterInitialization::kNormal,
                                      4);
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    sum += values.at(i);
    squares += values.at(i) * values.at(i);
  }
  EXPECT_NEAR(sum / kCount, 0, 3e-4);
  EXPECT_NEAR(squares / kCount, 4e-4, 1e-5);
}

}  // namespace
}  // namespace stepwright::runtime
