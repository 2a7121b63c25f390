#include "stepwright/tune/more_memory.h"

#include <gtest/gtest.h>

#include "small_jobs.h"
#include "stepwright/memory/memory.h"

namespace stepwright::tune {
namespace {

/// Returns a job whose best plan recomputes because memory is short.
plan::Job tight_job() {
  plan::Job job = small_tune_job();
  job.cluster.device.memory_bytes = 3e9;
  return job;
}

TEST(MoreMemory, EachStepHasMoreMemoryAndIsFaster) {
  const TuneResult result = tune(tight_job(), {.threads = 1});
  const std::vector<MoreMemoryGain> steps = step_time_gains_of_more_memory(result, {.threads = 1});
  ASSERT_FALSE(steps.empty());
  const TunedPlan& best = result.plans.front();
  double last_s = best.step_time_s;
  double last_usable = memory::usable_memory_bytes(result.job);
  for (const MoreMemoryGain& step : steps) {
    const double usable = step.capacity_bytes * (1 - step.reserve_share);
    EXPECT_GT(usable, last_usable);
    EXPECT_TRUE(step.tuned.fits);
    EXPECT_LE(step.tuned.peak_memory_bytes, usable);
    EXPECT_LT(step.tuned.step_time_s, last_s);
    EXPECT_DOUBLE_EQ(step.gain_s, best.step_time_s - step.tuned.step_time_s);
    last_s = step.tuned.step_time_s;
    last_usable = usable;
  }
}

TEST(MoreMemory, IsWhatASearchWithThatMemoryFindsAtLeast) {
  const TuneResult result = tune(tight_job(), {.threads = 1});
  for (const MoreMemoryGain& step : step_time_gains_of_more_memory(result, {.threads = 1})) {
    plan::Job larger = tight_job();
    larger.objective.memory_limit_bytes = step.capacity_bytes;
    larger.objective.memory_reserve = step.reserve_share;
    const TuneResult again = tune(larger, {.threads = 1});
    EXPECT_LE(again.plans.front().step_time_s, step.tuned.step_time_s);
  }
}

TEST(MoreMemory, GainsNothingWhereMemoryDoesNotBind) {
  plan::Job job = small_tune_job();
  job.cluster.device.memory_bytes = 1e12;
  const TuneResult result = tune(job, {.threads = 1});
  EXPECT_TRUE(step_time_gains_of_more_memory(result, {.threads = 1}).empty());
}

TEST(MoreMemory, IsNotAskedWhereNoPlanFits) {
  plan::Job job = small_tune_job();
  job.cluster.device.memory_bytes = 1e9;
  const TuneResult result = tune(job, {.threads = 1});
  ASSERT_FALSE(result.plans.front().fits);
  EXPECT_TRUE(step_time_gains_of_more_memory(result, {.threads = 1}).empty());
}

}  // namespace
}  // namespace stepwright::tune
