// Lower bounds of a template, of a position's load and of turns with messages, worked by hand.
#include <gtest/gtest.h>

#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/found/all_turns.h"
#include "stepwright/schedule/turn_play.h"
#include "stepwright/simulate/price/block_time_lower_bound.h"
#include "stepwright/simulate/price/step_load.h"
#include "stepwright/simulate/timeline/alone.h"
#include "tests/simulate/timeline/random_program.h"

namespace stepwright::simulate {
namespace {

constexpr cost::OverlapSlowdownFactors kSlowed{.compute_beside_inside = 2.0,
                                               .compute_beside_network = 3.0};

ModelBlockTimeLowerBound floor_of(const Draft& draft) {
  return ModelBlockTimeBoundCalculator().of(draft.program.templates[0], draft.prices[0], kSlowed);
}

double alone_s(const Draft& draft) {
  return simulate_template_alone(draft.program.templates[0], draft.prices[0], kSlowed)
      .compute_end_s;
}

// 1 s; 2 s of the message take 1 s of the next computation's 3 s; 2 s of it; 1 s.
TEST(ModelBlockTimeLowerBound, CountsWhatAMessageTakesFromTheComputationBesideIt) {
  const Draft draft =
      single({{computation(1), tensor_message(2, {0}), computation(3), computation(1, {1})}});
  EXPECT_DOUBLE_EQ(floor_of(draft).seconds, 6);
  EXPECT_DOUBLE_EQ(floor_of(draft).waiting_s, 0);
  EXPECT_DOUBLE_EQ(alone_s(draft), 6);
}

// The message is longer than 1 s of computation at a third of the rate: 1 s is always exposed.
TEST(ModelBlockTimeLowerBound, WaitsForWhatNoComputationCanHide) {
  const Draft draft =
      single({{computation(1), tensor_message(4, {0}), computation(1), computation(1, {1})}});
  EXPECT_DOUBLE_EQ(floor_of(draft).waiting_s, 1);
  EXPECT_DOUBLE_EQ(floor_of(draft).seconds, 6);
  EXPECT_DOUBLE_EQ(alone_s(draft), 6);
}

// Alone, 4 s of the reduction take 4/3 s of the second computation.
TEST(ModelBlockTimeLowerBound, LeavesOutMessagesThatNothingWaitsFor) {
  const Draft draft = single({{computation(1), reduction(4, {0}), computation(2)}});
  EXPECT_DOUBLE_EQ(floor_of(draft).seconds, 3);
  EXPECT_DOUBLE_EQ(alone_s(draft), 5 + 2.0 / 3);
}

TEST(ModelBlockTimeLowerBound, IsNeverAboveTheTemplateAlone) {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Draft draft = random_program(seed);
    for (std::size_t i = 0; i < draft.prices.size(); ++i) {
      const step::OperatorTemplate& piece = draft.program.templates[i];
      const double alone = simulate_template_alone(piece, draft.prices[i], kSlowed).compute_end_s;
      EXPECT_LE(ModelBlockTimeBoundCalculator().of(piece, draft.prices[i], kSlowed).seconds,
                alone * (1 + 1e-12))
          << "seed " << seed << ", template " << i;
      ++compared;
    }
  }
  EXPECT_GE(compared, 300);
}

// W = 1 + max(1, 4 - 1) + max(2, 1 - 1) = 6; 10 s inside the node, 4 of them beside computation,
// take half of these: 10 + 6 + 2. The network, three times as slow, 7: 10 + 6 + 2/3.
TEST(PipelinePositionStepLoad, HidesMessagesFirstWhereTheStreamWaits) {
  const PipelinePositionStepLoad load{.compute_s = 10,
                                      .waiting_s = 1,
                                      .fill_s = 1,
                                      .drain_s = 2,
                                      .first_s = 1,
                                      .last_s = 1,
                                      .first_messages_s = 4,
                                      .last_messages_s = 1,
                                      .busy_s = {0, 10, 7}};
  EXPECT_DOUBLE_EQ(step_time_lower_bound_s(load, kSlowed), 18);
  EXPECT_DOUBLE_EQ(step_time_lower_bound_s(load, {}), 16);
}

// F B F B of 1 and 2 s: the first forward ends at 3, the last backward begins at 6, ends at 8, and
// its messages at 11.
TEST(TurnMessages, HoldTheFirstForwardAndFollowTheLastBackward) {
  const schedule::PipelineSchedule schedule{schedule::PipelineScheduleKind::kOneForwardOneBackward,
                                            1};
  schedule::PipelineScheduleSeconds seconds{.parts = {{{.forward = 1, .backward = 2}}},
                                            .messages = {{{3, 5}}}};
  const std::vector<schedule::Turns> turns = schedule::schedule_turns_of_positions(schedule, 1, 2);
  schedule::ScheduleTurnSimulator player;
  const auto& ends = player.turn_end_seconds(
      turns, schedule::ModelChunkPlacement(schedule::ModelChunkPlacementKind::kCyclic, 1, 1),
      seconds);
  EXPECT_DOUBLE_EQ(schedule::makespan_s(ends), 8);
  EXPECT_DOUBLE_EQ(schedule::makespan_s(ends, turns, seconds), 11);
}

}  // namespace
}  // namespace stepwright::simulate
