#include "stepwright/tune/balanced_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "small_jobs.h"

namespace stepwright::tune {
namespace {

using Layers = std::vector<std::int64_t>;

/// Returns the balanced split of layers that take a second each and a head that takes `head_s`.
Layers split_of(double head_s, std::int64_t layers, std::int64_t pipeline,
                const schedule::PipelineSchedule& schedule = {}) {
  model::ModelArchitecture model = small_tune_job().model;
  model.layers = layers;
  LeastPlanWork work;
  work.layers = {{plan::kNoRecompute, {1.0}, {}}};
  work.head_s = head_s;
  return balanced_layer_split(work, LayerCountsByClass(model), schedule,
                              plan::ActivationRecomputation{}, pipeline);
}

// 32 layers and a head as long as 2.5 of them: 34.5 over four positions are 8.6, whole layers 9.
TEST(BalancedSplit, GivesThePositionOfTheHeadFewer) {
  EXPECT_EQ(split_of(2.5, 32, 4), Layers({8, 9, 9, 6}));
}

// Both ends lie on one position, which shares its layers between them.
TEST(BalancedSplit, GoesDownAndUpAgain) {
  const Layers split =
      split_of(2, 32, 2, {.kind = schedule::PipelineScheduleKind::kFolded, .chunks = 2});
  ASSERT_EQ(split.size(), 4U);
  EXPECT_EQ(split[0] + split[3], 15);
  EXPECT_EQ(split[1] + split[2], 17);
}

// Layers that are recomputed take twice as long: six seconds and five instead of eight and four.
TEST(BalancedSplit, GivesThePositionThatRecomputesFewer) {
  LeastPlanWork work;
  work.layers = {{plan::kNoRecompute, {1.0}, {}}, {plan::kWholeRecompute, {2.0}, {}}};
  const LayerCountsByClass counts(small_tune_job().model);  // Eight layers.
  const plan::ActivationRecomputation first{
      .stages = {{.position = 0, .kind = plan::RecomputeKind::kFull}}};
  EXPECT_EQ(balanced_layer_split(work, counts, {}, first, 2), Layers({3, 5}));
}

TEST(BalancedSplit, IsNoneWhereItGainsNothing) {
  EXPECT_TRUE(split_of(0, 32, 4).empty());
  EXPECT_TRUE(split_of(0.5, 32, 4).empty());
  EXPECT_TRUE(split_of(5, 32, 1).empty());
}

// 61 layers, 126, 27: sums stay, and the slowest position takes less time than with even layers,
// but not less than the mean.
TEST(BalancedSplit, DealsOutAllLayers) {
  std::int64_t splits = 0;
  for (const std::int64_t layers : {27, 61, 78, 126}) {
    for (const std::int64_t pipeline : {2, 4, 8}) {
      for (const double head_s : {0.7, 3.0, 40.0}) {
        const Layers split = split_of(head_s, layers, pipeline);
        if (split.empty()) continue;
        ++splits;
        EXPECT_EQ(std::accumulate(split.begin(), split.end(), std::int64_t{0}), layers);
        const std::int64_t share = layers / pipeline;
        EXPECT_GE(*std::ranges::min_element(split), share - share / 2);
        const double slowest = std::max(static_cast<double>(*std::ranges::max_element(split)),
                                        static_cast<double>(split.back()) + head_s);
        EXPECT_LT(slowest, static_cast<double>(share) + head_s);
        EXPECT_GE(slowest * static_cast<double>(pipeline), static_cast<double>(layers) + head_s);
      }
    }
  }
  EXPECT_GT(splits, 20);
}

/// Assigns layers of a second each one by one to the position with the least time, and there to the
/// chunk with the least; among equal ones to the last.
Layers one_by_one(double head_s, std::int64_t layers, std::int64_t pipeline, std::int64_t chunks) {
  const std::int64_t share = layers / (pipeline * chunks);
  const std::int64_t least = share - share / 2;
  Layers split(static_cast<std::size_t>(pipeline * chunks), least);
  std::vector<double> position_s(static_cast<std::size_t>(pipeline),
                                 static_cast<double>(least * chunks));
  position_s.back() += head_s;
  const auto last_least = [](std::size_t count, const auto& seconds) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count; ++i) best = seconds(i) <= seconds(best) ? i : best;
    return best;
  };
  for (std::int64_t rest = layers - least * pipeline * chunks; rest > 0; --rest) {
    const std::size_t position =
        last_least(position_s.size(), [&](std::size_t i) { return position_s[i]; });
    const auto place = [&](std::size_t i) {
      return i * static_cast<std::size_t>(pipeline) + position;
    };
    const std::size_t chunk = last_least(static_cast<std::size_t>(chunks), [&](std::size_t i) {
      return static_cast<double>(split[place(i)]) + (place(i) + 1 == split.size() ? head_s : 0);
    });
    ++split[place(chunk)];
    position_s[position] += 1;
  }
  return split;
}

TEST(BalancedSplit, DealsManyLayersAtOnceAsOneByOne) {
  std::int64_t splits = 0;
  for (const std::int64_t layers : {61, 126, 250, 1000, 2000}) {
    for (const std::int64_t pipeline : {2, 4, 8, 16}) {
      for (const std::int64_t chunks : {2, 3, 5, 10}) {
        for (const double head_s : {1.3, 7.7, 300.5}) {
          const Layers split =
              split_of(head_s, layers, pipeline,
                       {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = chunks});
          if (split.empty()) continue;
          ++splits;
          EXPECT_EQ(split, one_by_one(head_s, layers, pipeline, chunks));
        }
      }
    }
  }
  EXPECT_GT(splits, 50);
}

// Two strands run layers concurrently.
TEST(BalancedSplit, LeavesChunksOfAPositionEqualForTwoStrands) {
  const Layers split = split_of(
      3, 64, 4, {.kind = schedule::PipelineScheduleKind::kDualPipeV, .chunks = 2, .strands = 2});
  ASSERT_EQ(split.size(), 8U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_LE(std::abs(split[i] - split[7 - i]), 1);
  EXPECT_LT(split[0] + split[7], split[3] + split[4]);
}

}  // namespace
}  // namespace stepwright::tune
