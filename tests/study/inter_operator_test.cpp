#include "stepwright/study/inter_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace stepwright::study {
namespace {

using ::testing::ElementsAre;

// Stages of 1 s layers with 2 s of head: [3, 1] gives 3 and 3, any other cut is slower.
TEST(CutLayers, LeavesRoomForTheHead) {
  EXPECT_THAT(cut_layers_into_stages({1, 1, 1, 1}, 2, 0, 2), ElementsAre(3, 1));
}

TEST(CutLayers, PutsSlowLayersApart) {
  EXPECT_THAT(cut_layers_into_stages({1, 1, 5, 5, 1, 1}, 2, 0, 0), ElementsAre(3, 3));
  EXPECT_THAT(cut_layers_into_stages({9, 1, 1, 1}, 2, 0, 0), ElementsAre(1, 3));
}

TEST(CutLayers, GivesEveryStageALayer) {
  EXPECT_THAT(cut_layers_into_stages({1, 1, 1}, 3, 10, 10), ElementsAre(1, 1, 1));
}

double slowest_of(const std::vector<double>& seconds, const std::vector<std::int64_t>& runs,
                  double first_s, double last_s) {
  double slowest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    double stage = (i == 0 ? first_s : 0) + (i + 1 == runs.size() ? last_s : 0);
    for (std::int64_t n = 0; n < runs[i]; ++n) stage += seconds[at++];
    slowest = std::max(slowest, stage);
  }
  return slowest;
}

/// Returns the time of the slowest stage in the best cut, by trying every cut.
double best_of_all(const std::vector<double>& seconds, std::vector<std::int64_t> runs,
                   std::int64_t stages, double first_s, double last_s) {
  const auto left = static_cast<std::int64_t>(seconds.size()) -
                    std::accumulate(runs.begin(), runs.end(), std::int64_t{0});
  if (static_cast<std::int64_t>(runs.size()) + 1 == stages) {
    runs.push_back(left);
    return slowest_of(seconds, runs, first_s, last_s);
  }
  double best = std::numeric_limits<double>::infinity();
  const std::int64_t later = stages - static_cast<std::int64_t>(runs.size()) - 1;
  for (std::int64_t take = 1; take <= left - later; ++take) {
    auto next = runs;
    next.push_back(take);
    best = std::min(best, best_of_all(seconds, std::move(next), stages, first_s, last_s));
  }
  return best;
}

TEST(CutLayers, EqualsTryingEveryCut) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> seconds(3 + random() % 6);
    for (double& s : seconds) s = 1.0 + static_cast<double>(random() % 9);
    const auto stages = static_cast<std::int64_t>(1 + random() % seconds.size());
    const auto runs = cut_layers_into_stages(seconds, stages, 2, 3);
    EXPECT_DOUBLE_EQ(slowest_of(seconds, runs, 2, 3), best_of_all(seconds, {}, stages, 2, 3));
  }
}

}  // namespace
}  // namespace stepwright::study
