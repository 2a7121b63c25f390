#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "stepwright/simulate/timeline/engine.h"
#include "tests/simulate/timeline/draft.h"

namespace stepwright::simulate {
namespace {

Simulation play(const Pipeline& pipeline) {
  const Draft program = draft(pipeline);
  return simulate::simulate_priced_program(program.program, program.prices,
                                           cost::OverlapSlowdownFactors{});
}

/// Computes the end of every stage by a simple recurrence: a micro-batch starts when its message
/// has arrived and the stage is free; a message leaves when its data is computed and the previous
/// message has left.
std::vector<double> recurrence(const Pipeline& pipeline) {
  const std::size_t stages = pipeline.forward_s.size();
  const auto count = static_cast<std::size_t>(pipeline.micro_batches);
  // [backward][stage][micro-batch]: when its message is there; the outer stages make their own.
  std::vector<std::vector<std::optional<double>>> there[2];
  for (auto& direction : there) direction.assign(stages, std::vector<std::optional<double>>(count));
  for (std::size_t m = 0; m < count; ++m) there[0].front()[m] = there[1].back()[m] = 0.0;
  std::vector<double> free_s(stages);
  std::vector<double> link_s[2] = {std::vector<double>(stages), std::vector<double>(stages)};
  std::vector<std::size_t> done(stages);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < stages; ++s) {
      const auto order = pipeline_order(pipeline, static_cast<std::int32_t>(s));
      for (; done[s] < order.size(); ++done[s], moved = true) {
        const std::int32_t turn = order[done[s]];
        const int backward = turn < 0 ? 1 : 0;
        const std::size_t m = turn < 0 ? -1 - turn : turn;
        if (!there[backward][s][m]) break;
        free_s[s] = std::max(free_s[s], *there[backward][s][m]) +
                    (backward != 0 ? pipeline.backward_s[s] : pipeline.forward_s[s]);
        const std::size_t next = backward != 0 ? s - 1 : s + 1;  // beyond either end: >= stages
        if (next >= stages) continue;
        link_s[backward][s] = std::max(link_s[backward][s], free_s[s]) + pipeline.send_s;
        there[backward][next][m] = link_s[backward][s];
      }
    }
  }
  for (std::size_t s = 0; s < stages; ++s) {
    EXPECT_EQ(done[s], 2 * count);
    free_s[s] = std::max({free_s[s], link_s[0][s], link_s[1][s]});
  }
  return free_s;
}

class EqualStages : public testing::TestWithParam<std::tuple<bool, int, int>> {};

TEST_P(EqualStages, TakeTheClosedForm) {
  const auto [gpipe, stages, micro_batches] = GetParam();
  const Simulation result = play({.forward_s = std::vector<double>(stages, 1.0),
                                  .backward_s = std::vector<double>(stages, 2.0),
                                  .micro_batches = micro_batches,
                                  .gpipe = gpipe});
  EXPECT_DOUBLE_EQ(result.step_time_s, (micro_batches + stages - 1) * 3.0);
  for (const StageTimes& stage : result.stages) {
    EXPECT_DOUBLE_EQ(stage.breakdown.compute_s, micro_batches * 3.0);
    EXPECT_NEAR(stage.breakdown.bubble_s, (stages - 1) * 3.0, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, EqualStages,
                         testing::Combine(testing::Bool(), testing::Values(1, 2, 3, 8),
                                          testing::Values(1, 2, 7, 32)));

TEST(PipelineSchedule, UnequalStagesFollowTheRecurrence) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> seconds(0.1, 3.0);
  for (int round = 0; round < 200; ++round) {
    Pipeline pipeline{.send_s = round % 3 == 0 ? 0.0 : seconds(random) / 2,
                      .micro_batches = 1 + static_cast<std::int32_t>(random() % 12),
                      .gpipe = round % 2 == 0};
    const std::size_t stages = 1 + random() % 9;
    for (std::size_t s = 0; s < stages; ++s) {
      pipeline.forward_s.push_back(seconds(random));
      pipeline.backward_s.push_back(seconds(random));
    }
    const std::vector<double> ends = recurrence(pipeline);
    const Simulation result = play(pipeline);
    for (std::size_t s = 0; s < stages; ++s) {
      EXPECT_NEAR(result.stages[s].end_s, ends[s], 1e-9 * ends[s]);
    }
    EXPECT_NEAR(result.step_time_s, *std::max_element(ends.begin(), ends.end()), 1e-9);
  }
}

TEST(PipelineSchedule, TheSlowestStageSetsThePace) {
  const Simulation result =
      play({.forward_s = {1, 3, 1}, .backward_s = {2, 6, 2}, .micro_batches = 100});
  EXPECT_NEAR(result.step_time_s, 1 + 100 * 9 + 2, 1e-9);
  EXPECT_EQ(result.critical_stage, 1);  // does not wait for any rank in between
  EXPECT_NEAR(result.stages[1].breakdown.bubble_s, 1 + 2, 1e-9);
}

TEST(PipelineSchedule, WaitingForAMessageOnItsWayIsPipelineTime) {
  // Stage 1 waits 1 s for the forward to be computed, then 0.5 s for its message.
  const Simulation result = play({.forward_s = {1, 1}, .backward_s = {2, 2}, .send_s = 0.5});
  EXPECT_DOUBLE_EQ(result.step_time_s, 1 + 0.5 + 1 + 2 + 0.5 + 2);
  const StageTimeBreakdown& last = result.stages[1].breakdown;
  EXPECT_DOUBLE_EQ(last.compute_s, 3);
  EXPECT_DOUBLE_EQ(last.pipeline_s, 0.5 + 0.5);  // and its own send at the end
  EXPECT_DOUBLE_EQ(last.bubble_s, 1 + 2);
  const StageTimeBreakdown& first = result.stages[0].breakdown;
  EXPECT_DOUBLE_EQ(first.pipeline_s, 0.5);
  EXPECT_DOUBLE_EQ(first.bubble_s, 0.5 + 1 + 2);
}

}  // namespace
}  // namespace stepwright::simulate
