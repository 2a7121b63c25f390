#include "stepwright/tune/pipeline_lower_bound.h"

#include <gtest/gtest.h>

#include "small_jobs.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::tune {
namespace {

LeastPlanWork work_of(double layer_seconds_by_layer_class, double other_layer_s, double head_s) {
  LeastPlanWork work;
  work.layers = {{plan::kNoRecompute, {layer_seconds_by_layer_class, other_layer_s}, {}}};
  work.head_s = head_s;
  return work;
}

/// Returns layers of two classes: the first two have windowed attention.
model::ModelArchitecture two_classes(std::int64_t layers) {
  model::ModelArchitecture model = small_tune_job().model;
  model.layers = layers;
  std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), 0);
  windows[0] = windows[1] = 128;
  model::set_layer_attention_windows(model, windows);
  return model;
}

const schedule::PipelineSchedule kSchedules[] = {
    {},
    {.kind = schedule::PipelineScheduleKind::kGpipe},
    {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 2},
    {.kind = schedule::PipelineScheduleKind::kZeroBubbleH1},
    {.kind = schedule::PipelineScheduleKind::kFolded, .chunks = 2},
    {.kind = schedule::PipelineScheduleKind::kDualPipeV, .chunks = 2, .strands = 2}};

// A listed split has the same floor as the same split that is not listed.
TEST(PipelineLowerBound, OfAListedEvenSplitIsThatOfTheEvenOne) {
  const LayerCountsByClass counts(two_classes(14));
  const LeastPlanWork work = work_of(0.5, 1, 2);
  for (const schedule::PipelineSchedule& schedule : kSchedules) {
    const std::int64_t chunks = schedule::model_chunk_placement(schedule, 4).model_chunk_count();
    const PipelineLowerBound even =
        pipeline_lower_bound(work, counts, {schedule, plan::ActivationRecomputation{}, {}}, 4, 16);
    const PipelineLowerBound listed = pipeline_lower_bound(
        work, counts,
        {schedule, plan::ActivationRecomputation{}, plan::even_layer_split(14, chunks)}, 4, 16);
    EXPECT_GE(listed.price_s, even.price_s);
    EXPECT_NEAR(listed.simulated_s, even.simulated_s, 0.1 * even.simulated_s);
  }
}

// One layer of four on each of four positions takes one second, the head three: 16 micro-batches
// wait for three layers and three gradients, which `layer_seconds_by_layer_class` counts together.
TEST(PipelineLowerBound, CountsWhatLiesBeforeTheHead) {
  const LayerCountsByClass counts(small_tune_job().model);  // Eight layers.
  const PipelineLowerBound floor = pipeline_lower_bound(
      work_of(1, 1, 3), counts, {{}, plan::ActivationRecomputation{}, {}}, 4, 16);
  EXPECT_DOUBLE_EQ(floor.simulated_s, 16 * (2 + 3) + 6);
}

// Two layers of a second on each of four positions, of a second and a half on the first.
TEST(PipelineLowerBound, CountsWhatEachPositionRecomputes) {
  const LayerCountsByClass counts(small_tune_job().model);  // Eight layers.
  LeastPlanWork work = work_of(1, 1, 0);
  work.layers.push_back({plan::kWholeRecompute, {1.5, 1.5}, {}});
  const plan::ActivationRecomputation first{
      .stages = {{.position = 0, .kind = plan::RecomputeKind::kFull}}};
  const PipelineLowerBound floor = pipeline_lower_bound(work, counts, {{}, first, {}}, 4, 16);
  EXPECT_DOUBLE_EQ(floor.simulated_s, 16 * 3);
  EXPECT_DOUBLE_EQ(floor.price_s, 15 * 3 + 8);
}

}  // namespace
}  // namespace stepwright::tune
