#include "stepwright/simulate/timeline/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulate/timeline/draft.h"

namespace stepwright::simulate {
namespace {

Simulation play(const Draft& draft, const cost::OverlapSlowdownFactors& contention = {},
                bool record = false) {
  return simulate::simulate_priced_program(draft.program, draft.prices, contention, record);
}

/// Returns the event of an operator on a stage; the first one if it ran several times.
TimelineEvent event_of(const Simulation& result, std::int32_t stage, step::TemplateId which,
                       int operation) {
  for (const TimelineEvent& event : result.events) {
    if (event.stage == stage && event.which == which && event.operation == operation) return event;
  }
  ADD_FAILURE() << "no event of template " << which << ", operator " << operation;
  return {};
}

TEST(Engine, PlaysAStreamInOrder) {
  const Draft draft = single({{computation(1), computation(2)}, {computation(4)}});
  EXPECT_DOUBLE_EQ(play(draft).step_time_s, 7);
}

TEST(Engine, AnEmptyProgramTakesNoTime) {
  EXPECT_EQ(play(Draft{}).step_time_s, 0);
  Draft draft;
  draft.stage();
  EXPECT_EQ(play(draft).step_time_s, 0);
}

TEST(Engine, RunsAMessageBesideIndependentComputation) {
  const Draft draft = single({{computation(1), tensor_message(3, {0}), computation(2)}});
  EXPECT_DOUBLE_EQ(play(draft).step_time_s, 4);
}

TEST(Engine, WaitsForWhatAnOperatorIsAfter) {
  const Draft draft = single({{computation(1), tensor_message(3, {0}), computation(2, {1})}});
  EXPECT_DOUBLE_EQ(play(draft).step_time_s, 6);
}

TEST(Engine, SlowsComputationBesideAMessage) {
  // 0-1 alone; 1-3 concurrent with the message at rate 1/2: one second of work; 3-5 the other two.
  const Draft draft = single({{computation(1), tensor_message(2, {0}), computation(3)}});
  const Simulation result = play(draft, {.compute_beside_inside = 2.0}, true);
  EXPECT_DOUBLE_EQ(result.step_time_s, 5);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 1).end_s, 3);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 2).start_s, 1);
  EXPECT_DOUBLE_EQ(result.stages[0].breakdown.compute_s, 4);
  EXPECT_DOUBLE_EQ(result.stages[0].breakdown.tensor_s, 1);
}

TEST(Engine, TakesTheLargerSlowDownOfTwoLinks) {
  const Draft draft = single({{tensor_message(4), reduction(4), computation(1)}});
  const Simulation result =
      play(draft, {.compute_beside_inside = 2.0, .compute_beside_network = 3.0}, true);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 2).end_s, 3);
}

TEST(Engine, MessagesOnOneLinkShareItEvenly) {
  // Both at half rate until the shorter ends at 2; then the longer alone with 2 s left.
  Line other = reduction(3);
  other.link = cost::LinkClass::kInside;
  const Draft draft = single({{tensor_message(1), other}});
  const Simulation result = play(draft, {}, true);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 0).end_s, 2);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 1).end_s, 4);
}

TEST(Engine, MessagesOnDifferentLinksDoNotMeet) {
  const Draft draft = single({{tensor_message(1), reduction(3)}});
  const Simulation result = play(draft, {}, true);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 0).end_s, 1);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 1).end_s, 3);
}

TEST(Engine, AMessageThatJoinsTakesItsShare) {
  // The reduction runs alone until 1, then shares until both have played their second left at 3.
  Line joins = tensor_message(1, {0});
  joins.link = cost::LinkClass::kNetwork;
  const Draft draft = single({{computation(1), reduction(2), joins}});
  const Simulation result = play(draft, {}, true);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 1).end_s, 3);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 2).end_s, 3);
}

TEST(Engine, MessagesOnTheComputeStreamHoldIt) {
  Line blocking = tensor_message(2);
  blocking.stream = step::DeviceStream::kCompute;
  const Draft draft = single({{computation(1), blocking, computation(1)}});
  const Simulation result = play(draft, {.compute_beside_inside = 9.0});
  EXPECT_DOUBLE_EQ(result.step_time_s, 4);
  EXPECT_DOUBLE_EQ(result.stages[0].breakdown.tensor_s, 2);
}

TEST(Engine, ItemsWaitForWholeItemsBeforeThem) {
  const Draft draft = single({{computation(1), reduction(5, {0})}, {computation(1)}});
  EXPECT_DOUBLE_EQ(play(draft).step_time_s, 7);
}

TEST(Engine, ItemsWithoutPredecessorsWaitForTheirSlotOnTheComputeStreamOnly) {
  Draft draft;
  const step::TemplateId first = draft.add({computation(1), reduction(5, {0})});
  const step::TemplateId second = draft.add({tensor_message(1), computation(2)});
  step::PipelineStageProgram& stage = draft.stage();
  const std::int32_t a = chain(stage, schedule::Direction::kBackward, {first});
  const std::int32_t b = chain(stage, schedule::Direction::kBackward, {second});
  stage.schedule = {{a, 0}, {b, 1}};
  const Simulation result = play(draft, {}, true);
  EXPECT_DOUBLE_EQ(event_of(result, 0, second, 0).start_s, 1);
  EXPECT_DOUBLE_EQ(event_of(result, 0, second, 1).start_s, 1);
  EXPECT_DOUBLE_EQ(result.step_time_s, 6);
}

TEST(Engine, AnUpdateWaitsForAllStreams) {
  Draft draft;
  const step::TemplateId first = draft.add({computation(1), reduction(5, {0})});
  const step::TemplateId second = draft.add({computation(2)});
  step::PipelineStageProgram& stage = draft.stage();
  const std::int32_t a = chain(stage, schedule::Direction::kBackward, {first});
  const std::int32_t b = chain(stage, schedule::Direction::kUpdate, {second});
  stage.schedule = {{a, 0}, {b, -1}};
  const Simulation result = play(draft);
  EXPECT_DOUBLE_EQ(result.step_time_s, 8);
  EXPECT_DOUBLE_EQ(result.stages[0].breakdown.optimizer_s, 2);
  EXPECT_DOUBLE_EQ(result.stages[0].breakdown.data_s, 5);
}

TEST(Engine, ATemplateWithoutOperatorsEndsWhenItIsReleased) {
  const Draft draft = single({{computation(1), reduction(3, {0})}, {}, {computation(1)}});
  EXPECT_DOUBLE_EQ(play(draft).step_time_s, 5);
}

TEST(Engine, ReceivesEarlyMessagesBesideASendOfTheirStream) {
  // Stage 1 computes 3 s and sends for 10 s; the second message arrives meanwhile and its
  // computation does not wait for that send.
  Draft draft;
  const step::TemplateId source = draft.add({computation(1), send(1, false, {0})});
  const step::TemplateId middle =
      draft.add({receive(false), computation(3, {0}), send(10, false, {1})});
  const step::TemplateId sink = draft.add({receive(false), computation(1, {0})});
  for (const step::TemplateId which : {source, middle, sink}) {
    step::PipelineStageProgram& stage = draft.stage();
    const std::int32_t sequence = chain(stage, schedule::Direction::kForward, {which});
    stage.schedule = {{sequence, 0}, {sequence, 1}};
  }
  const Simulation result = play(draft, {}, true);
  std::vector<double> starts;
  for (const TimelineEvent& event : result.events) {
    if (event.which == middle && event.operation == 1) starts.push_back(event.start_s);
  }
  EXPECT_THAT(starts, testing::ElementsAre(2, 5));
  EXPECT_DOUBLE_EQ(result.step_time_s, 5 + 10 + 10 + 1);
}

TEST(Engine, AnEarlyMessageDoesNotReleaseItsItemBeforeItsSlot) {
  Draft draft;
  const step::TemplateId source = draft.add({send(1, false)});
  const step::TemplateId busy = draft.add({computation(5)});
  const step::TemplateId expects = draft.add({receive(false)});
  const step::TemplateId gather = draft.add({tensor_message(1)});
  step::PipelineStageProgram& first = draft.stage();
  first.schedule = {{chain(first, schedule::Direction::kForward, {source}), 0}};
  step::PipelineStageProgram& second = draft.stage();
  const std::int32_t a = chain(second, schedule::Direction::kForward, {busy});
  const std::int32_t b = chain(second, schedule::Direction::kForward, {expects, gather});
  second.schedule = {{a, 7}, {b, 0}};
  const Simulation result = play(draft, {}, true);
  EXPECT_DOUBLE_EQ(event_of(result, 1, expects, 0).end_s, 1);
  EXPECT_DOUBLE_EQ(event_of(result, 1, gather, 0).start_s, 5);
}

TEST(Engine, SendsToTheNextChunkRoundThePipeline) {
  // Two stages, two chunks each: 0, 1, then 0 and 1 again.
  Draft draft;
  const step::TemplateId head = draft.add({computation(1), send(0.5, false, {0})});
  const step::TemplateId middle =
      draft.add({receive(false), computation(1, {0}), send(0.5, false, {1})});
  const step::TemplateId tail = draft.add({receive(false), computation(1, {0})});
  for (int s = 0; s < 2; ++s) {
    step::PipelineStageProgram& stage = draft.stage();
    const std::int32_t early =
        chain(stage, schedule::Direction::kForward, {s == 0 ? head : middle}, 0);
    const std::int32_t late =
        chain(stage, schedule::Direction::kForward, {s == 0 ? middle : tail}, 1);
    stage.schedule = {{early, 0}, {late, 0}};
  }
  draft.program.placement = {schedule::ModelChunkPlacementKind::kCyclic, 2, 2};
  EXPECT_DOUBLE_EQ(play(draft).step_time_s, 4 + 3 * 0.5);
}

TEST(Engine, ACollectiveOverStagesStartsWithTheLastAndEndsForAll) {
  Draft draft;
  Line norm = reduction(2, {0});
  norm.group = plan::CommunicatorKind::kNorm;
  norm.stream = step::DeviceStream::kCompute;
  norm.scheme = step::ParallelismScheme::kControl;
  for (const double seconds : {1.0, 4.0, 2.0}) {
    step::PipelineStageProgram& stage = draft.stage();
    const step::TemplateId which = draft.add({computation(seconds), norm, computation(1)});
    stage.schedule = {{chain(stage, schedule::Direction::kUpdate, {which}), -1}};
  }
  const Simulation result = play(draft, {}, true);
  for (std::int32_t s = 0; s < 3; ++s) {
    EXPECT_DOUBLE_EQ(event_of(result, s, s, 1).start_s, 4);
    EXPECT_DOUBLE_EQ(event_of(result, s, s, 1).end_s, 6);
  }
  EXPECT_DOUBLE_EQ(result.step_time_s, 7);
  EXPECT_DOUBLE_EQ(result.stages[0].breakdown.bubble_s, 3);
  EXPECT_DOUBLE_EQ(result.stages[0].breakdown.data_s, 2);
  EXPECT_DOUBLE_EQ(result.stages[2].breakdown.bubble_s, 2);
  EXPECT_EQ(result.critical_stage, 1);
}

TEST(Engine, ACollectiveSlowedOnOneStageEndsLateForAll) {
  // Stage 0 shares its network with a reduction of 1 s: its half of the norm takes 2 + 1 s.
  Draft draft;
  Line norm = reduction(2);
  norm.group = plan::CommunicatorKind::kWorld;
  norm.stream = step::DeviceStream::kGather;
  for (int s = 0; s < 2; ++s) {
    step::PipelineStageProgram& stage = draft.stage();
    const step::TemplateId which = s == 0 ? draft.add({norm, reduction(1)}) : draft.add({norm});
    stage.schedule = {{chain(stage, schedule::Direction::kUpdate, {which}), -1}};
  }
  const Simulation result = play(draft, {}, true);
  EXPECT_DOUBLE_EQ(event_of(result, 0, 0, 0).end_s, 3);
  EXPECT_DOUBLE_EQ(event_of(result, 1, 1, 0).end_s, 3);
}

TEST(Engine, TiedTablesMeetOnTheFirstAndLastStageOnly) {
  Draft draft;
  Line tied = reduction(1);
  tied.group = plan::CommunicatorKind::kEmbedding;
  for (int s = 0; s < 3; ++s) {
    step::PipelineStageProgram& stage = draft.stage();
    const step::TemplateId which = s == 1 ? draft.add({computation(1)}) : draft.add({tied});
    stage.schedule = {{chain(stage, schedule::Direction::kUpdate, {which}), -1}};
  }
  EXPECT_DOUBLE_EQ(play(draft).step_time_s, 1);
}

TEST(Engine, OnASingleStageTheseCollectivesWaitForNobody) {
  Line norm = reduction(2);
  norm.group = plan::CommunicatorKind::kNorm;
  EXPECT_DOUBLE_EQ(play(single({{norm}})).step_time_s, 2);
}

TEST(Engine, RecordsOneEventPerOperatorSortedByStageAndStart) {
  const Draft program = draft(
      Pipeline{.forward_s = {1, 2}, .backward_s = {2, 3}, .send_s = 0.25, .micro_batches = 3});
  const Simulation result = play(program, {}, true);
  EXPECT_EQ(result.events.size(), 2 * 3 * (2U + 2U));  // a computation and a send or receive each
  for (std::size_t i = 1; i < result.events.size(); ++i) {
    const TimelineEvent& before = result.events[i - 1];
    const TimelineEvent& event = result.events[i];
    EXPECT_LE(before.stage, event.stage);
    if (before.stage == event.stage) {
      EXPECT_LE(before.start_s, event.start_s);
    }
  }
  EXPECT_EQ(result.events[0].micro_batch, 0);
  EXPECT_TRUE(play(program).events.empty());
}

}  // namespace
}  // namespace stepwright::simulate
