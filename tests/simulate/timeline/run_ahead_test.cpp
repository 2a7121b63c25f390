// Stages are simulated one after the other, each as far as possible; this must not change any
// result.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "stepwright/simulate/timeline/compile.h"
#include "stepwright/simulate/timeline/engine.h"
#include "stepwright/simulate/timeline/player.h"
#include "tests/simulate/timeline/common_clock.h"
#include "tests/simulate/timeline/random_program.h"

namespace stepwright::simulate {
namespace {

class RunAhead : public testing::TestWithParam<int> {};

TEST_P(RunAhead, GivesTheTimesOfACommonClock) {
  const Draft draft = random_program(static_cast<std::uint32_t>(GetParam()));
  const auto expected = play_on_common_clock(draft, kSlowed);
  const Simulation result =
      simulate::simulate_priced_program(draft.program, draft.prices, kSlowed, true);
  std::size_t compared = 0;
  for (const TimelineEvent& event : result.events) {
    const auto& operators = draft.program.templates[event.which].operators;
    if (operators[event.operation].kind == step::OperatorKind::kReceive) continue;
    const OperatorKey key{event.stage, event.which, event.operation, event.micro_batch};
    const auto found = expected.find(key);
    ASSERT_NE(found, expected.end());
    EXPECT_NEAR(event.start_s, found->second.start_s, 1e-9);
    EXPECT_NEAR(event.end_s, found->second.end_s, 1e-9);
    ++compared;
  }
  EXPECT_EQ(compared, expected.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RunAhead, testing::Range(0, kRandomPrograms));

/// Two reductions share the network; when the first ends, a message after a receive starts in its
/// place. The sender reports only after that instant was simulated that the message had already
/// arrived.
TEST(Player, PlaysTheSameWhenItHearsLateOfAMessage) {
  Line first = tensor_message(0.1);
  first.link = cost::LinkClass::kNetwork;
  Line second = reduction(1.1);  // Rounds otherwise when its rate changes and changes back.
  Line third = reduction(0.2, {0, 2});
  third.stream = step::DeviceStream::kGather;
  Draft draft = single({{first, second, receive(false), third}});
  const FlatPricedProgram score = compile_task_queues(draft.program, draft.prices, false);
  const auto play = [&](bool late) {
    std::array<MessageArrival, 1> arrival;
    if (!late) arrival[0].arrived_s = 0.1;
    const step::PipelineStageProgram& stage = draft.program.stages[0];
    StageSimulator player({.score = &score,
                           .track_of = score.track_of[0],
                           .schedule = stage.schedule,
                           .arrivals = arrival,
                           .contention = {}});
    std::vector<StageSimulator::EndedSimulatedTask> played;
    player.record_ended_tasks_in(&played);
    std::vector<SimulatedStageNotice> notices;
    while (player.next_event_s() != kNever) {
      player.simulate_events_at_next_time(notices);
      if (player.simulated_until_s() > 0) arrival[0].arrived_s = 0.1;
      player.recheck_stage_waits();
    }
    return played;
  };
  const auto early = play(false);
  const auto late = play(true);
  ASSERT_EQ(early.size(), 3);
  ASSERT_EQ(late.size(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(early[i].start_s, late[i].start_s);
    EXPECT_EQ(early[i].end_s, late[i].end_s);
  }
  EXPECT_NEAR(early[0].end_s, 0.2, 1e-12);
  EXPECT_NEAR(early[1].end_s, 0.6, 1e-12);
  EXPECT_NEAR(early[2].end_s, 1.4, 1e-12);
}

}  // namespace
}  // namespace stepwright::simulate
