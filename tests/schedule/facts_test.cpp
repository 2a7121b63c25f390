#include "stepwright/schedule/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "stepwright/schedule/found/all_turns.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {
namespace {

const PipelineSchedule kSchedules[] = {
    {PipelineScheduleKind::kGpipe, 1},         {PipelineScheduleKind::kOneForwardOneBackward, 1},
    {PipelineScheduleKind::kInterleaved, 2},   {PipelineScheduleKind::kInterleaved, 3},
    {PipelineScheduleKind::kZeroBubbleH1, 1},  {PipelineScheduleKind::kZeroBubbleH2, 1},
    {PipelineScheduleKind::kZeroBubbleV, 2},   {PipelineScheduleKind::kVHalf, 2},
    {PipelineScheduleKind::kVMin, 2},          {PipelineScheduleKind::kFolded, 2},
    {PipelineScheduleKind::kDualPipeV, 2},     {PipelineScheduleKind::kPaired, 2},
    {PipelineScheduleKind::kStp, 2},           {PipelineScheduleKind::kSpreadVocabulary, 1},
    {PipelineScheduleKind::kVocabularyOne, 1}, {PipelineScheduleKind::kVocabularyTwo, 1},
    {PipelineScheduleKind::kAuto, 1},          {PipelineScheduleKind::kAuto, 2}};

/// Returns the turns of a schedule; a searched order is one for chunks with equal times and memory.
std::vector<Turns> turns_of(PipelineSchedule schedule, std::int64_t stages,
                            std::int64_t micro_batches) {
  const auto positions = static_cast<std::size_t>(stages);
  if (traits_of(schedule.kind).found) {
    const std::int64_t held = stages * schedule.chunks;
    schedule.basis.chunks.assign(static_cast<std::size_t>(held), {1, 1, 1, 2, 1, 1});
    schedule.basis.room_bytes.assign(positions, held);
  }
  return schedule_turns_of_positions(schedule, stages, micro_batches);
}

TEST(ScheduleFacts, EveryPositionRunsEveryPartOnceAndInOrder) {
  for (const PipelineSchedule& schedule : kSchedules) {
    for (const Turns& turns : turns_of(schedule, 4, 12)) {
      std::set<PipelineWorkPart> done;
      for (const PipelineWorkPart& part : work_items_in_issue_order(turns)) {
        EXPECT_TRUE(done.insert(part).second);
        PipelineWorkPart before = part;
        before.direction = part.direction == Direction::kWeightGradient ? Direction::kDataGradient
                                                                        : Direction::kForward;
        EXPECT_TRUE(part.direction == Direction::kForward || is_joint_work(part.direction) ||
                    is_vocabulary_pass(part.direction) || done.contains(before));
      }
      const auto of = [&](Direction direction) {
        return std::ranges::count(done, direction, &PipelineWorkPart::direction);
      };
      const std::int64_t each = 12 * schedule.chunks;
      EXPECT_EQ(of(Direction::kForward), each);
      EXPECT_EQ(of(Direction::kBackward) + of(Direction::kDataGradient), each);
      EXPECT_EQ(of(Direction::kWeightGradient), of(Direction::kDataGradient));
    }
  }
}

TEST(ScheduleFacts, BackwardsAreWholeCutOrBoth) {
  const auto of = [](PipelineScheduleKind kind) { return backward_form({kind, 2}); };
  EXPECT_EQ(of(PipelineScheduleKind::kInterleaved), BackwardSplitting::kWhole);
  EXPECT_EQ(of(PipelineScheduleKind::kFolded), BackwardSplitting::kWhole);
  EXPECT_EQ(of(PipelineScheduleKind::kZeroBubbleH1), BackwardSplitting::kSplit);
  EXPECT_EQ(of(PipelineScheduleKind::kVMin), BackwardSplitting::kSplit);
  EXPECT_EQ(of(PipelineScheduleKind::kDualPipeV), BackwardSplitting::kBoth);
  EXPECT_EQ(of(PipelineScheduleKind::kStp), BackwardSplitting::kBoth);
}

// Reductions are in the last whole backward pass of a chunk, or in its last data and weight
// gradients: no whole backward pass may come between these two.
TEST(ScheduleFacts, NoWholeBackwardStandsBetweenTheLastDataAndWeightGradient) {
  for (const PipelineSchedule& schedule : kSchedules) {
    for (std::int64_t stages = 2; stages <= 9; ++stages) {
      for (const Turns& turns : turns_of(schedule, stages, 3 * stages)) {
        const auto parts = work_items_in_issue_order(turns);
        for (std::int32_t chunk = 0; chunk < schedule.chunks; ++chunk) {
          const ModelChunkPassIndices ends = chunk_ends(parts, chunk);
          const PipelineWorkPart& last = parts[static_cast<std::size_t>(ends.last_backward)];
          EXPECT_EQ(ends.last_weight >= 0, last.direction == Direction::kDataGradient);
        }
      }
    }
  }
}

TEST(ScheduleFacts, EndsOfAChunkAreItsFirstForwardAndLastGradients) {
  const auto parts = work_items_in_issue_order(
      schedule_turns_of_positions({PipelineScheduleKind::kInterleaved, 2}, 2, 2)[1]);
  // F0 F1 F0'1 B0'1 F1'1 B1'1 B0 B1
  const ModelChunkPassIndices second = chunk_ends(parts, 1);
  EXPECT_EQ(second.first_forward, 2);
  EXPECT_EQ(second.last_backward, 5);
  EXPECT_EQ(second.last_weight, -1);
  const auto cut = work_items_in_issue_order(
      schedule_turns_of_positions({PipelineScheduleKind::kZeroBubbleH1, 1}, 3, 4)[1]);
  const ModelChunkPassIndices ends = chunk_ends(cut, 0);  // F0 F1 D0 F2 D1 W0 F3 D2 W1 D3 W2 W3
  EXPECT_EQ(ends.last_backward, 9);
  EXPECT_EQ(ends.last_weight, 11);
}

TEST(ScheduleFacts, OfTwoThatRunTogetherTheBackwardFreesFirst) {
  const PipelineWorkPart forward{Direction::kForward, 0, 3};
  const PipelineWorkPart backward{Direction::kBackward, 1, 1};
  for (const PipelineScheduleTurn& turn :
       {PipelineScheduleTurn{forward, backward}, PipelineScheduleTurn{backward, forward}}) {
    EXPECT_EQ(work_items_in_issue_order(std::vector<PipelineScheduleTurn>{turn}),
              (std::vector<PipelineWorkPart>{backward, forward}));
  }
}

TEST(ScheduleFacts, ZeroBubbleH1HoldsPMinusRActivationsAndTheOperandsOfR) {
  for (std::int32_t r = 0; r < 4; ++r) {
    const Turns turns = schedule_turns_of_positions({PipelineScheduleKind::kZeroBubbleH1, 1}, 4,
                                                    16)[static_cast<std::size_t>(r)];
    std::int32_t backward = 0;
    std::int32_t weight = 0;
    for (const WaitingMicroBatches& moment : peak_memory_moments(turns, 1)) {
      backward = std::max(backward, moment.backward[0]);
      // A data gradient that has just run waits until its turn's weight gradient has.
      if (moment.part.direction != Direction::kWeightGradient) {
        weight = std::max(weight, moment.weight[0]);
      }
    }
    EXPECT_EQ(backward, 4 - r);
    EXPECT_EQ(weight, r);
    EXPECT_EQ(trailing_weight_gradients(work_items_in_issue_order(turns)), r + 1);
  }
}

TEST(ScheduleFacts, TwoThatRunTogetherHaveOneMoment) {
  const PipelineWorkPart backward{Direction::kDataGradient, 0, 0};
  const Turns turns = {make_single_part_turn(Direction::kForward, 0, 0),
                       {.part = backward, .beside = PipelineWorkPart{Direction::kForward, 0, 1}},
                       make_single_part_turn(Direction::kForward, 0, 2)};
  const std::vector<WaitingMicroBatches> moments = peak_memory_moments(turns, 1);
  ASSERT_EQ(moments.size(), 2U);  // That before the first forward is covered by the last one's.
  EXPECT_EQ(moments[0].part.direction, Direction::kForward);
  EXPECT_EQ(moments[0].beside, backward);
  EXPECT_EQ(moments[0].backward, std::vector<std::int32_t>{1});
  EXPECT_EQ(moments[0].weight, std::vector<std::int32_t>{0});
  EXPECT_FALSE(moments[1].beside);
  EXPECT_EQ(moments[1].backward, std::vector<std::int32_t>{1});
  EXPECT_EQ(moments[1].weight, std::vector<std::int32_t>{1});
}

TEST(ScheduleFacts, AFullestMomentCoversEveryMoment) {
  for (const PipelineSchedule& schedule : kSchedules) {
    const Turns turns = turns_of(schedule, 4, 12)[1];
    const auto chunks = static_cast<std::size_t>(schedule.chunks);
    const std::vector<WaitingMicroBatches> fullest = peak_memory_moments(turns, schedule.chunks);
    std::vector<std::int32_t> backward(chunks, 0);
    std::vector<std::int32_t> weight(chunks, 0);
    const auto alike = [](const PipelineWorkPart& a, const PipelineWorkPart& b) {
      return a.direction == b.direction && a.chunk == b.chunk;
    };
    const auto run = [&](const PipelineWorkPart& part) {
      const auto chunk = static_cast<std::size_t>(part.chunk);
      if (part.direction == Direction::kForward) ++backward[chunk];
      if (part.direction == Direction::kBackward) --backward[chunk];
      if (part.direction == Direction::kDataGradient) --backward[chunk], ++weight[chunk];
      if (part.direction == Direction::kWeightGradient) --weight[chunk];
    };
    for (const PipelineScheduleTurn& turn : turns) {
      const auto covers = [&](const WaitingMicroBatches& m) {
        bool all = m.beside.has_value() == turn.beside.has_value() && alike(m.part, turn.part);
        if (turn.beside) all = all && alike(*m.beside, *turn.beside);
        for (std::size_t i = 0; i < chunks; ++i) {
          all = all && m.backward[i] >= backward[i] && m.weight[i] >= weight[i];
        }
        return all;
      };
      EXPECT_TRUE(std::ranges::any_of(fullest, covers));
      run(turn.part);
      if (turn.beside) run(*turn.beside);
    }
  }
}

}  // namespace
}  // namespace stepwright::schedule
