#include "stepwright/schedule/turns.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "stepwright/schedule/found/all_turns.h"

namespace stepwright::schedule {
namespace {

constexpr const char* kLetters = "FBUDWHEPGerhsTctgk";

/// Writes turns as text: "F0 F1 B0 ...". D and W are the two parts of a backward pass, H the
/// deferred work of a head; E, P and G are passes of all positions together, and other letters are
/// passes over the vocabulary in the order of their enumeration. Chunks above 0 are "F1'2"
/// (micro-batch 1 of chunk 2); two concurrent parts have a plus between them.
std::string text(const std::vector<PipelineScheduleTurn>& turns) {
  std::string out;
  const auto add = [&out](const PipelineWorkPart& part) {
    out += kLetters[static_cast<int>(part.direction)];
    out += std::to_string(part.micro_batch);
    if (part.chunk > 0) out += "'" + std::to_string(part.chunk);
  };
  for (const PipelineScheduleTurn& turn : turns) {
    if (!out.empty()) out += ' ';
    add(turn.part);
    if (!turn.beside) continue;
    out += '+';
    add(*turn.beside);
  }
  return out;
}

TEST(PipelineSchedule, GpipeRunsAllForwardsFirst) {
  EXPECT_EQ(text(schedule_turns_of_positions({PipelineScheduleKind::kGpipe, 1}, 4, 3)[2]),
            "F0 F1 F2 B0 B1 B2");
}

TEST(PipelineSchedule, OneForwardOneBackwardWarmsUpByTheStagesBehind) {
  const PipelineSchedule schedule{PipelineScheduleKind::kOneForwardOneBackward, 1};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 3, 4)[0]), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 3, 4)[1]), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 3, 4)[2]), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(PipelineSchedule, FewMicroBatchesNeverWarmUpBeyondThem) {
  const PipelineSchedule schedule{PipelineScheduleKind::kOneForwardOneBackward, 1};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 8, 2)[0]), "F0 F1 B0 B1");
}

TEST(PipelineSchedule, InterleavedTakesRoundsOfStagesThroughEveryChunk) {
  const PipelineSchedule schedule{PipelineScheduleKind::kInterleaved, 2};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 2)[0]),
            "F0 F1 F0'1 F1'1 B0'1 B1'1 B0 B1");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 2)[1]),
            "F0 F1 F0'1 B0'1 F1'1 B1'1 B0 B1");
}

// The table that get_schedule_table of Megatron-Core's schedules.py gives as its example: two
// positions, two chunks, five micro-batches in groups of three.
TEST(PipelineSchedule, TheLastGroupOfInterleavedMayBeSmaller) {
  const PipelineSchedule schedule{
      .kind = PipelineScheduleKind::kInterleaved, .chunks = 2, .group = 3};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 5)[1]),
            "F0 F1 F2 F0'1 B0'1 F1'1 B1'1 F2'1 B2'1 F3 B0 F4 B1 F3'1 B2 F4'1 B3'1 B4'1 B3 B4");
}

TEST(PipelineSchedule, GroupsAreAsSmallAsNoneIsBelowThePositions) {
  EXPECT_EQ(min_group_size(4, 12), 4);
  EXPECT_EQ(min_group_size(4, 5), 5);
  EXPECT_EQ(min_group_size(4, 9), 5);          // And one of 4.
  EXPECT_EQ(min_group_size(4, 14), 5);         // 5, 5, 4.
  EXPECT_FALSE(is_legal_group_size(4, 4, 9));  // One micro-batch would be left.
  EXPECT_FALSE(is_legal_group_size(3, 4, 9));
  EXPECT_FALSE(is_legal_group_size(min_group_size(4, 3), 4, 3));
  const PipelineSchedule schedule{PipelineScheduleKind::kInterleaved, 2};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 3)[1]),
            "F0 F1 F2 F0'1 B0'1 F1'1 B1'1 F2'1 B2'1 B0 B1 B2");
}

// torch's ScheduleInterleaved1F1B: M / (M / p) in each of M / p rounds, else it refuses.
TEST(PipelineSchedule, PyTorchHasTheSmallestGroupOrNone) {
  for (const std::int64_t p : {2, 3, 4, 5, 8}) {
    for (std::int64_t m = p; m < 8 * p; ++m) {
      const std::int64_t rounds = m / p;
      EXPECT_EQ(is_pytorch_micro_batch_group_size(min_group_size(p, m), p, m), m % rounds == 0)
          << p << " " << m;
    }
  }
}

TEST(PipelineSchedule, ZeroBubbleH1DefersAsManyWeightGradientsAsPositionsStandBefore) {
  const PipelineSchedule schedule{PipelineScheduleKind::kZeroBubbleH1, 1};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 3, 4)[0]),
            "F0 F1 F2 D0 W0 F3 D1 W1 D2 W2 D3 W3");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 3, 4)[1]),
            "F0 F1 D0 F2 D1 W0 F3 D2 W1 D3 W2 W3");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 3, 4)[2]),
            "F0 D0 F1 D1 F2 D2 W0 F3 D3 W1 W2 W3");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 4, 2)[3]), "F0 D0 F1 D1 W0 W1");
}

TEST(PipelineSchedule, ZeroBubbleH2StartsWithTwiceAsManyForwards) {
  const PipelineSchedule schedule{PipelineScheduleKind::kZeroBubbleH2, 1};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 4)[0]),
            "F0 F1 F2 D0 W0 F3 D1 W1 D2 W2 D3 W3");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 4)[1]),
            "F0 D0 F1 D1 F2 D2 W0 F3 D3 W1 W2 W3");
}

// Down trips D(i), up trips U(i); worked by hand for P = 2, M = 3: five slots, position 0 one
// ahead.
TEST(PipelineSchedule, FoldedGoesDownAndUpAgain) {
  const PipelineSchedule schedule{PipelineScheduleKind::kFolded, 2};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 3)[1]),
            "F0 F0'1 F1 F1'1 F2+B0'1 F2'1+B0 B1'1 B1 B2'1 B2");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 3)[0]),
            "F0 F1 F0'1 F2+B0'1 F1'1 B1'1 F2'1+B0 B2'1 B1 B2");
}

TEST(PipelineSchedule, PairedRunsForwardsBesideBackwards) {
  EXPECT_EQ(text(schedule_turns_of_positions({PipelineScheduleKind::kPaired, 1}, 1, 3)[0]),
            "F0 F1+B0 F2+B1 B2");
}

TEST(PipelineSchedule, DualPipeVHasItsPhases) {
  const PipelineSchedule schedule{PipelineScheduleKind::kDualPipeV, 2};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 4)[1]),
            "F0 F0'1 F1 F1'1 F2 B0'1 F2'1+B0 F3+B1'1 F3'1+B1 B2'1 B2 D3'1 D3 W3'1 W3");
}

TEST(PipelineSchedule, StpHasItsPhases) {
  const PipelineSchedule schedule{PipelineScheduleKind::kStp, 2};
  EXPECT_EQ(
      text(schedule_turns_of_positions(schedule, 2, 6)[0]),
      "F0 F1 F2 F0'1 F3 F1'1+D0'1 F4+W0'1 F2'1+B1'1 F5+B0 F3'1+B2'1 B1 F4'1+D3'1 B2 F5'1+D4'1 "
      "B3 D5'1 W5'1 B4 W3'1 W4'1 D5 W5");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 6)[1]),
            "F0 F0'1 F1 F1'1 F2 F3 F2'1+B0'1 F4+B0 F3'1+B1'1 F5+B1 F4'1+D2'1 B2 F5'1+D3'1 B3 B4'1 "
            "B4 D5'1 W5'1 D5 W5 W2'1 W3'1");
}

// Two positions, three micro-batches: a backward waits for one round, then for the one before it.
TEST(PipelineSchedule, SpreadVocabularyMeetsAfterEachRound) {
  const PipelineSchedule schedule{PipelineScheduleKind::kSpreadVocabulary, 1};
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 3)[0]),
            "E0 F0 P0 E1 F1 P1 E2 F2 B0 P2 G0 B1 G1 B2 G2");
  EXPECT_EQ(text(schedule_turns_of_positions(schedule, 2, 3)[1]),
            "E0 F0 P0 E1 B0 F1 P1 E2 B1 F2 P2 G0 B2 G1 G2");
}

TEST(PipelineSchedule, PositionsMeetInOneOrder) {
  for (std::int64_t stages = 2; stages <= 9; ++stages) {
    for (std::int64_t m = 1; m <= 3 * stages; ++m) {
      std::vector<std::vector<PipelineWorkPart>> met;
      for (const Turns& turns :
           schedule_turns_of_positions({PipelineScheduleKind::kSpreadVocabulary, 1}, stages, m)) {
        std::vector<PipelineWorkPart>& own = met.emplace_back();
        for (const PipelineWorkPart& part : work_items_in_issue_order(turns)) {
          if (is_joint_work(part.direction)) own.push_back(part);
        }
      }
      EXPECT_EQ(std::ssize(met.front()), 3 * m);
      for (const std::vector<PipelineWorkPart>& own : met) EXPECT_EQ(own, met.front());
    }
  }
}

// The messages of all positions go one after the other: all post them in one order.
TEST(PipelineSchedule, PassesPostTheirMessagesInOneOrder) {
  for (const PipelineScheduleKind kind :
       {PipelineScheduleKind::kVocabularyOne, PipelineScheduleKind::kVocabularyTwo}) {
    const std::int64_t each = kind == PipelineScheduleKind::kVocabularyOne ? 5 : 4;
    for (std::int64_t stages = 2; stages <= 17; ++stages) {
      for (std::int64_t m = 1; m <= 3 * stages; ++m) {
        std::vector<std::vector<PipelineWorkPart>> posted;
        for (const Turns& turns : schedule_turns_of_positions({kind, 1}, stages, m)) {
          std::vector<PipelineWorkPart>& own = posted.emplace_back();
          std::map<Direction, std::int64_t> count;
          for (const PipelineWorkPart& part : work_items_in_issue_order(turns)) {
            EXPECT_EQ(part.micro_batch, count[part.direction]++);
            if (sends_all_position_message(part.direction)) own.push_back(part);
          }
          for (const auto& [direction, parts] : count) EXPECT_EQ(parts, m);
        }
        EXPECT_EQ(std::ssize(posted.front()), each * m);
        for (const std::vector<PipelineWorkPart>& own : posted) EXPECT_EQ(own, posted.front());
      }
    }
  }
}

// The last position has one forward more than 1F1B before its first backward, and the passes of a
// round behind each backward. By hand for two positions and three micro-batches.
TEST(PipelineSchedule, PassesStandBetweenForwardsAndBackwards) {
  EXPECT_EQ(
      text(schedule_turns_of_positions({PipelineScheduleKind::kVocabularyTwo, 1}, 2, 3)[1]),
      "e0 r0 e1 r1 e2 F0 h0 r2 s0 F1 t0 h1 B0 T0 s1 F2 t1 h2 B1 T1 s2 t2 g0 B2 k0 T2 g1 k1 g2 k2");
}

// Steps of DualPipe come to half of the micro-batches for each route, of DualPipeV to all of them,
// forwards and backwards alike.
TEST(PipelineSchedule, StepsOfDualPipeSumToTheMicroBatches) {
  for (std::int64_t stages = 2; stages <= 8; stages += 2) {
    for (std::int64_t m = 2 * stages; m <= 4 * stages; m += 2) {
      for (const PipelineScheduleKind kind :
           {PipelineScheduleKind::kDualPipe, PipelineScheduleKind::kDualPipeV}) {
        for (const Turns& turns : schedule_turns_of_positions({kind, 2}, stages, m)) {
          std::map<std::pair<bool, std::int32_t>, std::int64_t> count;
          for (const PipelineScheduleTurn& turn : turns) {
            for (const std::optional<PipelineWorkPart>& part :
                 {std::optional(turn.part), turn.beside}) {
              if (!part || part->direction == Direction::kWeightGradient) continue;
              ++count[{part->direction == Direction::kForward, part->chunk}];
            }
          }
          ASSERT_EQ(count.size(), 4U);
          for (const auto& [key, parts] : count) {
            EXPECT_EQ(parts, kind == PipelineScheduleKind::kDualPipe ? m / 2 : m);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::schedule
