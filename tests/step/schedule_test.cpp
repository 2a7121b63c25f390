#include "stepwright/step/schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace stepwright {
namespace {

/// "F0 F1 B0 ..."; chunks above 0 as "F1'2" (micro-batch 1 of chunk 2).
std::string text(const std::vector<Turn>& turns) {
  std::string out;
  for (const Turn& turn : turns) {
    if (!out.empty()) out += ' ';
    out += turn.direction == Direction::kForward ? 'F' : 'B';
    out += std::to_string(turn.micro_batch);
    if (turn.chunk > 0) out += "'" + std::to_string(turn.chunk);
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

}  // namespace
}  // namespace stepwright
