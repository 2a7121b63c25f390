#include "stepwright/study/schedules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "stepwright/core/error.h"

namespace stepwright::study {
namespace {

/// Returns simulations of the schedules with a fixed order, by kind.
std::map<schedule::PipelineScheduleKind, PipelineScheduleSimulation> plays_of(
    const schedule::UniformPipeline& pipeline) {
  std::map<schedule::PipelineScheduleKind, PipelineScheduleSimulation> plays;
  for (PipelineScheduleSimulation& play : study_pipeline_schedules(pipeline, false))
    plays[play.schedule.kind] = play;
  return plays;
}

constexpr schedule::UniformPipeline kFour{.stages = 4,
                                          .micro_batches = 16,
                                          .chunks = 2,
                                          .forward_s = 1,
                                          .backward_s = 2,
                                          .weight_s = 1,
                                          .paired_s = 2.4};

// By hand: 4 x 3 + 15 x 2.4 for the folded pipeline; 48 - 23 x 0.6 / 2 + 3 x 1.4 / 2 for DualPipeV.
TEST(StudySchedules, OneCaseWorkedByHand) {
  const auto plays = plays_of(kFour);
  EXPECT_NEAR(plays.at(schedule::PipelineScheduleKind::kFolded).makespan_s, 48, 1e-9);
  EXPECT_NEAR(plays.at(schedule::PipelineScheduleKind::kDualPipeV).makespan_s, 43.2, 1e-9);
  const std::vector<double>& idle = plays.at(schedule::PipelineScheduleKind::kDualPipeV).idle_s;
  for (const auto& [position, idle_s] : {std::pair{0, 1.5}, {1, 1.8}, {2, 2.1}, {3, 2.1}}) {
    EXPECT_NEAR(idle[static_cast<std::size_t>(position)], idle_s, 1e-9);
  }
  EXPECT_EQ(plays.at(schedule::PipelineScheduleKind::kFolded).peak_activations,
            std::vector<double>(4, 4.0));
}

// Without paired passes, no named schedule with at most 1F1B's memory is shorter than the searched
// one.
TEST(StudySchedules, AFoundOrderIsNeverLonger) {
  for (const double weight_s : {0.5, 1.0, 1.5}) {
    schedule::UniformPipeline pipeline = kFour;
    pipeline.weight_s = weight_s;
    pipeline.paired_s.reset();
    const std::vector<PipelineScheduleSimulation> plays = study_pipeline_schedules(pipeline);
    const PipelineScheduleSimulation& found = plays.back();
    ASSERT_EQ(found.schedule.kind, schedule::PipelineScheduleKind::kAuto);
    EXPECT_LE(std::ranges::max(found.peak_activations), 4);
    for (const PipelineScheduleSimulation& play : plays) {
      if (!play.refused.empty() || std::ranges::max(play.peak_activations) > 4) continue;
      EXPECT_GE(play.makespan_s, found.makespan_s - 1e-9)
          << name_of(schedule::kScheduleKindNames, play.schedule.kind);
    }
  }
}

TEST(StudySchedules, TakeTheirClosedForms) {
  std::mt19937 random(17);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::map<schedule::PipelineScheduleKind, int> seen;
  for (int i = 0; i < 3000; ++i) {
    schedule::UniformPipeline pipeline{
        .stages = between(1, 9), .micro_batches = between(1, 40), .chunks = 2};
    pipeline.forward_s = between(2, 12) / 8.0;
    pipeline.weight_s = between(1, 12) / 8.0;
    const bool balanced = between(0, 1) == 1;
    pipeline.backward_s =
        pipeline.weight_s + (balanced ? pipeline.forward_s : between(1, 12) / 8.0);
    pipeline.paired_s = std::max(pipeline.forward_s, pipeline.backward_s) +
                        between(0, 4) / 4.0 * std::min(pipeline.forward_s, pipeline.backward_s);
    for (const PipelineScheduleSimulation& play : study_pipeline_schedules(pipeline, false)) {
      if (!play.refused.empty() || !play.closed_form_s) continue;
      ++seen[play.schedule.kind];
      EXPECT_NEAR(play.makespan_s, *play.closed_form_s, 1e-9)
          << name_of(schedule::kScheduleKindNames, play.schedule.kind) << ", " << pipeline.stages
          << " stages, " << pipeline.micro_batches << " micro-batches";
    }
  }
  for (const schedule::PipelineScheduleKind kind :
       {schedule::PipelineScheduleKind::kZeroBubbleH1, schedule::PipelineScheduleKind::kFolded,
        schedule::PipelineScheduleKind::kDualPipe, schedule::PipelineScheduleKind::kDualPipeV,
        schedule::PipelineScheduleKind::kStp}) {
    EXPECT_GT(seen[kind], 50) << name_of(schedule::kScheduleKindNames, kind);
  }
}

// Idle of each position, as 2412.19437's table extended to co-execution has it (docs/strands.md).
TEST(StudySchedules, DualPipeIsIdleByItsForms) {
  for (const std::int64_t stages : {2, 4, 6, 8}) {
    for (const double paired_s : {2.1, 2.4, 3.0}) {
      const double f = 1;
      const double b = 2;
      const double w = 1;
      const auto plays = plays_of({.stages = stages,
                                   .micro_batches = 4 * stages,
                                   .chunks = 2,
                                   .forward_s = f,
                                   .backward_s = b,
                                   .weight_s = w,
                                   .paired_s = paired_s});
      const auto half = static_cast<double>(stages / 2);
      const auto all = static_cast<double>(stages);
      for (std::int64_t position = 0; position < stages; ++position) {
        const auto at = static_cast<std::size_t>(position);
        const auto r = static_cast<double>(position);
        const double saved_s = f + b - paired_s;
        const double fill_s = paired_s + b - 3 * w;
        EXPECT_NEAR(plays.at(schedule::PipelineScheduleKind::kDualPipeV).idle_s[at],
                    (all - 1) * fill_s / 2 - std::max(0.0, all - 2 - r) * saved_s / 2, 1e-9);
        const double near = std::min(r, all - 1 - r);
        EXPECT_NEAR(plays.at(schedule::PipelineScheduleKind::kDualPipe).idle_s[at],
                    (half - 1) * fill_s - std::max(0.0, half - 2 - near) * saved_s, 1e-9);
      }
    }
  }
}

// min(P, (M + r + 1) / 2) micro-batches on position r, rounded down to half ones.
TEST(StudySchedules, FoldedHoldsAsManyMicroBatchesAsPositionsOnEach) {
  for (const std::int64_t stages : {1, 2, 3, 4, 8}) {
    for (std::int64_t m = stages; m <= 3 * stages; ++m) {
      schedule::UniformPipeline pipeline = kFour;
      pipeline.stages = stages;
      pipeline.micro_batches = m;
      const PipelineScheduleSimulation play =
          plays_of(pipeline).at(schedule::PipelineScheduleKind::kFolded);
      for (std::int64_t r = 0; r < stages; ++r) {
        EXPECT_DOUBLE_EQ(play.peak_activations[static_cast<std::size_t>(r)],
                         std::min(static_cast<double>(stages), static_cast<double>(m + r + 1) / 2))
            << stages << " stages, " << m << " micro-batches, position " << r;
      }
    }
  }
}

// There is then nothing to run concurrently: it takes as long as all forward and all backward
// passes.
TEST(StudySchedules, FoldedWithFewMicroBatchesTakesWhatGpipeTakes) {
  for (std::int64_t stages = 2; stages <= 12; ++stages) {
    for (std::int64_t m = 1; m < stages; ++m) {
      schedule::UniformPipeline pipeline = kFour;
      pipeline.stages = stages;
      pipeline.micro_batches = m;
      const auto plays = plays_of(pipeline);
      EXPECT_NEAR(plays.at(schedule::PipelineScheduleKind::kFolded).makespan_s,
                  plays.at(schedule::PipelineScheduleKind::kGpipe).makespan_s, 1e-9)
          << stages << " stages, " << m << " micro-batches";
    }
  }
}

// Peaks in 2405.15362: V-Half has about p/2 + 1, and V-Min about p/3 + 1, of 1F1B's activations at
// its first position.
TEST(StudySchedules, ShapesOfVHoldWhatTheirNamesSay) {
  for (std::int64_t stages = 2; stages <= 16; ++stages) {
    schedule::UniformPipeline pipeline = kFour;
    pipeline.stages = stages;
    pipeline.micro_batches = 4 * stages;
    const auto plays = plays_of(pipeline);
    const auto p = static_cast<double>(stages);
    const auto peak = [&](schedule::PipelineScheduleKind kind) {
      return std::ranges::max(plays.at(kind).peak_activations);
    };
    EXPECT_LE(peak(schedule::PipelineScheduleKind::kZeroBubbleV), p);
    EXPECT_LE(peak(schedule::PipelineScheduleKind::kVHalf), p / 2 + 1);
    EXPECT_LE(peak(schedule::PipelineScheduleKind::kVMin), p / 3 + 4.0 / 3);
    EXPECT_LT(plays.at(schedule::PipelineScheduleKind::kZeroBubbleV).makespan_s,
              plays.at(schedule::PipelineScheduleKind::kOneForwardOneBackward).makespan_s);
  }
}

TEST(StudySchedules, RefuseWithAReason) {
  schedule::UniformPipeline pipeline = kFour;
  pipeline.micro_batches = 3;
  const auto plays = plays_of(pipeline);
  EXPECT_EQ(plays.at(schedule::PipelineScheduleKind::kDualPipeV).refused,
            "the schedule dualpipev needs at least 8 micro-batches with pipeline 4; they are 3");
  EXPECT_EQ(plays.at(schedule::PipelineScheduleKind::kDualPipe).refused,
            "the schedule dualpipe needs an even number of positions and of micro-batches; "
            "pipeline is 4, micro-batches are 3");
  EXPECT_TRUE(plays.at(schedule::PipelineScheduleKind::kFolded).refused.empty());
  pipeline.paired_s = -1;
  EXPECT_THROW(study_pipeline_schedules(pipeline), Error);
}

TEST(StudySchedules, RefuseTimesThatNoSumShows) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double forward_s : {0.0, -1.0, 2e9, 1e308, kInfinity, std::nan(""), 1e-7, 1e8}) {
    schedule::UniformPipeline pipeline = kFour;
    pipeline.forward_s = forward_s;
    EXPECT_THROW(study_pipeline_schedules(pipeline), Error) << forward_s;
  }
  schedule::UniformPipeline pipeline = kFour;
  pipeline.stages = kMostStages + 1;
  EXPECT_THROW(study_pipeline_schedules(pipeline), Error);
}

TEST(StudySchedules, PlayTheLargestRatio) {
  for (const double forward_s : {2e-6, 1e6}) {
    schedule::UniformPipeline pipeline = kFour;
    pipeline.forward_s = forward_s;
    pipeline.paired_s.reset();
    for (const double weight_s : {0.0, 1.0, 2.0}) {
      pipeline.weight_s = weight_s;
      for (const PipelineScheduleSimulation& play : study_pipeline_schedules(pipeline)) {
        if (!play.refused.empty()) continue;
        EXPECT_GE(play.makespan_s, 8 * (forward_s + 2) * (1 - 1e-9));
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::study
