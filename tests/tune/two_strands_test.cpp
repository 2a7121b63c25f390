#include "stepwright/tune/two_strands.h"

#include <gtest/gtest.h>

#include "stepwright/cluster/catalog.h"
#include "stepwright/memory/memory.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::tune {
namespace {

/// Returns a job with tensor parallelism whose messages only two strands can hide.
plan::Job sent_job() {
  plan::Job job;
  job.model_name = "llama-3-8b";
  job.model = *model::built_in_model("llama-3-8b");
  job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  job.length = 4096;
  job.sequences = 64;
  job.space.tensor = {8};
  job.space.micro_batch = {1, 2};
  return job;
}

TEST(TwoStrands, GainWhereTensorMessagesAreExposed) {
  const plan::Job job = sent_job();
  const TuneResult result = tune(job, {.threads = 1});
  const std::optional<TwoStrandsGain> gain =
      gain_of_two_micro_batch_streams(result, {.threads = 1});
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->tuned.plan.schedule.strands, 2);
  EXPECT_FALSE(plan::first_broken_rule(job, gain->tuned.plan));
  EXPECT_LE(gain->tuned.peak_memory_bytes, memory::usable_memory_bytes(job));
  EXPECT_DOUBLE_EQ(gain->gain_s, result.plans.front().step_time_s - gain->tuned.step_time_s);
  EXPECT_GT(gain->gain_s, 0.01 * result.plans.front().step_time_s);
}

TEST(TwoStrands, AreNoBetterThanASearchAmongThem) {
  plan::Job job = sent_job();
  const std::optional<TwoStrandsGain> gain =
      gain_of_two_micro_batch_streams(tune(job, {.threads = 1}), {.threads = 1});
  ASSERT_TRUE(gain);
  job.space.schedule = {schedule::PipelineScheduleKind::kOneForwardOneBackward,
                        schedule::PipelineScheduleKind::kFolded,
                        schedule::PipelineScheduleKind::kPaired,
                        schedule::PipelineScheduleKind::kDualPipeV};
  job.space.strands = {1, 2};
  const TuneResult searched = tune(job, {.threads = 1});
  EXPECT_LE(searched.plans.front().step_time_s, gain->tuned.step_time_s * (1 + 1e-12));
  EXPECT_EQ(searched.plans.front().plan.schedule.strands, 2);
  EXPECT_FALSE(gain_of_two_micro_batch_streams(searched, {.threads = 1}));
}

TEST(TwoStrands, AreNotToldWhereNothingIsSentOrTheFrameworkRunsNone) {
  plan::Job alone = sent_job();
  alone.space.tensor = {1};
  alone.space.context = {1};
  alone.space.pipeline = {1};
  EXPECT_FALSE(gain_of_two_micro_batch_streams(tune(alone, {.threads = 1}), {.threads = 1}));
  plan::Job megatron = sent_job();
  megatron.framework.name = "megatron-core";
  EXPECT_FALSE(gain_of_two_micro_batch_streams(tune(megatron, {.threads = 1}), {.threads = 1}));
}

}  // namespace
}  // namespace stepwright::tune
