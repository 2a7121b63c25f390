#include "stepwright/simulate/timeline/breakdown.h"

#include <gtest/gtest.h>

#include "stepwright/simulate/timeline/engine.h"
#include "tests/simulate/timeline/draft.h"

namespace stepwright::simulate {
namespace {

StageTimeBreakdown play_one(const Draft& draft,
                            const cost::OverlapSlowdownFactors& contention = {}) {
  const Simulation result =
      simulate::simulate_priced_program(draft.program, draft.prices, contention);
  EXPECT_NEAR(result.stages[0].breakdown.total(), result.step_time_s, 1e-12);
  return result.stages[0].breakdown;
}

Line on_stream(Line line, step::DeviceStream stream, step::ParallelismScheme scheme) {
  line.stream = stream;
  line.scheme = scheme;
  return line;
}

TEST(BreakdownOfAStage, HiddenMessagesCostNothing) {
  const StageTimeBreakdown b =
      play_one(single({{computation(1), tensor_message(2, {0}), computation(3)}}));
  EXPECT_DOUBLE_EQ(b.compute_s, 4);
  EXPECT_DOUBLE_EQ(b.tensor_s, 0);
}

TEST(BreakdownOfAStage, TheExposedPartOfAMessageGoesToItsScheme) {
  const StageTimeBreakdown b = play_one(single(
      {{computation(1),
        on_stream(reduction(5, {0}), step::DeviceStream::kExpert, step::ParallelismScheme::kExpert),
        computation(2), computation(1, {1})}}));
  EXPECT_DOUBLE_EQ(b.compute_s, 4);
  EXPECT_DOUBLE_EQ(b.expert_s, 3);
}

TEST(BreakdownOfAStage, SlowDownIsSplitOverTheMessagesBeside) {
  // 3 s of computation at rate 1/2, concurrent with two messages: 3 s lost, half to each.
  const StageTimeBreakdown b = play_one(
      single({{tensor_message(10), reduction(10), computation(3), computation(1, {0, 1})}}),
      {.compute_beside_inside = 2.0, .compute_beside_network = 2.0});
  EXPECT_DOUBLE_EQ(b.compute_s, 4);
  EXPECT_DOUBLE_EQ(b.tensor_s, 1.5 + 4);  // waited for first
  EXPECT_DOUBLE_EQ(b.data_s, 1.5);
}

TEST(BreakdownOfAStage, WaitingBehindAnotherMessageOfTheStreamGoesToThatOne) {
  const StageTimeBreakdown b = play_one(single(
      {{on_stream(reduction(2), step::DeviceStream::kReduce, step::ParallelismScheme::kExpert),
        reduction(1), computation(1, {1})}}));
  EXPECT_DOUBLE_EQ(b.expert_s, 2);
  EXPECT_DOUBLE_EQ(b.data_s, 1);
}

TEST(BreakdownOfAStage, AWaitFollowsTheChainToWhatRuns) {
  const StageTimeBreakdown b = play_one(single(
      {{on_stream(reduction(2), step::DeviceStream::kContext, step::ParallelismScheme::kContext),
        tensor_message(1, {0}), computation(1, {1})}}));
  EXPECT_DOUBLE_EQ(b.context_s, 2);
  EXPECT_DOUBLE_EQ(b.tensor_s, 1);
}

TEST(BreakdownOfAStage, WhatRunsAfterTheLastComputationIsExposed) {
  const StageTimeBreakdown b =
      play_one(single({{computation(1), tensor_message(2, {0}), reduction(4, {0})}}));
  EXPECT_DOUBLE_EQ(b.compute_s, 1);
  EXPECT_DOUBLE_EQ(b.tensor_s, 1);  // half of the two seconds that they share
  EXPECT_DOUBLE_EQ(b.data_s, 1 + 2);
}

TEST(BreakdownOfAStage, ControlMessagesCountAsData) {
  const StageTimeBreakdown b = play_one(single({{on_stream(
      reduction(2), step::DeviceStream::kCompute, step::ParallelismScheme::kControl)}}));
  EXPECT_DOUBLE_EQ(b.data_s, 2);
}

TEST(BreakdownOfAStage, ComputationOfAnotherStreamCountsWhereItIsWaitedFor) {
  Line side = computation(3);
  side.stream = step::DeviceStream::kReduce;
  const StageTimeBreakdown b = play_one(single({{side, computation(1), computation(1, {0})}}));
  EXPECT_DOUBLE_EQ(b.compute_s, 4);
}

TEST(BreakdownOfAStage, AStageThatEndsEarlyWaits) {
  Draft draft;
  for (const double seconds : {1.0, 3.0, 3.0}) {
    step::PipelineStageProgram& stage = draft.stage();
    stage.schedule = {
        {chain(stage, schedule::Direction::kForward, {draft.add({computation(seconds)})}), 0}};
  }
  const Simulation result = simulate::simulate_priced_program(draft.program, draft.prices, {});
  EXPECT_DOUBLE_EQ(result.stages[0].breakdown.bubble_s, 2);
  EXPECT_EQ(result.critical_stage, 1);
}

}  // namespace
}  // namespace stepwright::simulate
