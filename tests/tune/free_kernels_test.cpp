#include "stepwright/tune/free_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_jobs.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {
namespace {

plan::Job job_on(std::string_view cluster, std::string framework = "") {
  plan::Job job = small_tune_job();
  job.cluster = cluster::built_in_cluster(cluster, 1).value();
  job.framework.name = std::move(framework);
  return job;
}

cluster::AttentionKernel chosen(const plan::Job& job) {
  return with_fastest_attention_kernel(job).kernels.attention;
}

TEST(FreeKernels, AreTheFastestOfTheDevice) {
  EXPECT_EQ(chosen(job_on("dgx-a100-80g")), cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(chosen(job_on("dgx-h100")), cluster::AttentionKernel::kFlash3);
  EXPECT_EQ(chosen(job_on("dgx-b200")), cluster::AttentionKernel::kCudnn);
  EXPECT_EQ(chosen(small_tune_job()), cluster::AttentionKernel::kFlash2);
}

TEST(FreeKernels, AreOfTheFramework) {
  EXPECT_EQ(chosen(job_on("dgx-h100", "megatron-core")), cluster::AttentionKernel::kCudnn);
  EXPECT_EQ(chosen(job_on("dgx-h100", "nanotron")), cluster::AttentionKernel::kFlash2);
}

TEST(FreeKernels, AreNotThoseThatAPersonNamed) {
  plan::Job job = job_on("dgx-h100");
  job.attention_stated = true;
  EXPECT_EQ(chosen(job), cluster::AttentionKernel::kFlash2);
  job.attention_stated = false;
  job.precision = DType::kFp32;
  EXPECT_EQ(chosen(job), cluster::AttentionKernel::kFlash2);
}

TEST(FreeKernels, AreWhatASearchTrainsWith) {
  const plan::Job job = job_on("dgx-h100");
  const TuneResult result = tune(job, {.threads = 1});
  EXPECT_EQ(result.job.kernels.attention, cluster::AttentionKernel::kFlash3);
  EXPECT_THAT(result.notes, testing::Contains(testing::HasSubstr("timed as the kernel flash3")));
  plan::Job stated = job;
  stated.attention_stated = true;
  EXPECT_LT(result.plans.front().step_time_s,
            tune(stated, {.threads = 1}).plans.front().step_time_s);
}

TEST(FreeKernels, AreTheUsualOnesForPlansThatNeedThem) {
  plan::Job job = job_on("dgx-h100", "torchtitan");
  EXPECT_FALSE(is_plan_limited_by_attention_kernel(job));
  EXPECT_TRUE(is_plan_limited_by_attention_kernel(with_fastest_attention_kernel(job)));
  job.space.context = {2};
  const TuneResult result = tune(job, {.threads = 1});
  EXPECT_EQ(result.plans.front().plan.parallel.context, 2);
  EXPECT_EQ(result.job.kernels.attention, cluster::AttentionKernel::kFlash2);
}

}  // namespace
}  // namespace stepwright::tune
