#include "stepwright/step/schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace stepwright {
namespace {

constexpr const char* kLetters = "FBUDW";

/// "F0 F1 B0 ..."; D and W for the two parts of a backward; chunks above 0 as "F1'2" (micro-batch 1
/// of chunk 2).
std::string text(const std::vector<Turn>& turns) {
  std::string out;
  for (const Turn& turn : turns) {
    if (!out.empty()) out += ' ';
    out += kLetters[static_cast<int>(turn.part.direction)];
    out += std::to_string(turn.part.micro_batch);
    if (turn.part.chunk > 0) out += "'" + std::to_string(turn.part.chunk);
  }
  return out;
}

TEST(PipelineSchedule, GpipeRunsAllForwardsFirst) {
  EXPECT_EQ(text(pipeline_schedule({ScheduleKind::kGpipe, 1}, 4, 2, 3)), "F0 F1 F2 B0 B1 B2");
}

TEST(PipelineSchedule, OneForwardOneBackwardWarmsUpByTheStagesBehind) {
  const Schedule schedule{ScheduleKind::kOneForwardOneBackward, 1};
  EXPECT_EQ(text(pipeline_schedule(schedule, 3, 0, 4)), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(text(pipeline_schedule(schedule, 3, 1, 4)), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(text(pipeline_schedule(schedule, 3, 2, 4)), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(PipelineSchedule, FewMicroBatchesNeverWarmUpBeyondThem) {
  const Schedule schedule{ScheduleKind::kOneForwardOneBackward, 1};
  EXPECT_EQ(text(pipeline_schedule(schedule, 8, 0, 2)), "F0 F1 B0 B1");
}

TEST(PipelineSchedule, InterleavedTakesRoundsOfStagesThroughEveryChunk) {
  const Schedule schedule{ScheduleKind::kInterleaved, 2};
  EXPECT_EQ(text(pipeline_schedule(schedule, 2, 0, 2)), "F0 F1 F0'1 F1'1 B0'1 B1'1 B0 B1");
  EXPECT_EQ(text(pipeline_schedule(schedule, 2, 1, 2)), "F0 F1 F0'1 B0'1 F1'1 B1'1 B0 B1");
}

TEST(PipelineSchedule, ZeroBubbleH1DefersAsManyWeightGradientsAsPositionsStandBefore) {
  const Schedule schedule{ScheduleKind::kZeroBubbleH1, 1};
  EXPECT_EQ(text(pipeline_schedule(schedule, 3, 0, 4)), "F0 F1 F2 D0 W0 F3 D1 W1 D2 W2 D3 W3");
  EXPECT_EQ(text(pipeline_schedule(schedule, 3, 1, 4)), "F0 F1 D0 F2 D1 W0 F3 D2 W1 D3 W2 W3");
  EXPECT_EQ(text(pipeline_schedule(schedule, 3, 2, 4)), "F0 D0 F1 D1 F2 D2 W0 F3 D3 W1 W2 W3");
  EXPECT_EQ(text(pipeline_schedule(schedule, 4, 3, 2)), "F0 D0 F1 D1 W0 W1");
}

}  // namespace
}  // namespace stepwright
