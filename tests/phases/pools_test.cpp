#include "stepwright/phases/pools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"

namespace stepwright::phases {
namespace {

plan::Job job_of(const std::string& objective, int nodes = 4, const char* model = "llama-3-8b") {
  const std::string text = std::string("stepwright: job/2\nmodel: ") + model +
                           "\ncluster: {profile: dgx-h100, nodes: " + std::to_string(nodes) +
                           "}\nbatch: {sequences: 96, length: 4096}\nobjective: " + objective +
                           "\nsearch: {context: 1, recompute: [none, full]}\n";
  return plan::read_job(YamlJsonDocument::parse(text, "job.yaml"), {});
}

DevicePoolSplits splits_of(const plan::Job& job) {
  return best_device_splits(
      job, [](const plan::Job& part) { return tune::tune(part, {.threads = 1, .top = 3}); });
}

std::int64_t generating(const PhasedStep& step) { return step.method().rollout->devices; }

TEST(Pools, AreComparedByTheirSteps) {
  const DevicePoolSplits found =
      splits_of(job_of("{kind: grpo, reference: host, rollout: {tokens_per_s: 2000, tensor: 4}}"));
  std::set<std::int64_t> tried;
  for (const PhasedStep& step : found.steps) {
    EXPECT_TRUE(step.fits());
    EXPECT_EQ(step.devices, 32);
    EXPECT_GE(step.step_s, found.steps.front().step_s);
    tried.insert(generating(step));
  }
  EXPECT_EQ(tried, (std::set<std::int64_t>{0, 8, 16, 24}));
}

TEST(Pools, GrowWhereGenerationIsSlower) {
  std::int64_t before = 0;
  for (const char* speed : {"20000", "2000", "200"}) {
    const DevicePoolSplits found = splits_of(job_of(
        std::string("{kind: grpo, reference: host, rollout: {tokens_per_s: ") + speed + "}}"));
    for (const PhasedStep& step : found.steps) {
      if (generating(step) == 0) continue;
      EXPECT_GE(generating(step), before) << speed;
      before = generating(step);
      break;
    }
  }
  EXPECT_EQ(before, 24);
}

TEST(Pools, AreThoseThatTheJobStates) {
  const DevicePoolSplits found =
      splits_of(job_of("{kind: grpo, reference: none, rollout: {seconds: 10, devices: 8}}"));
  ASSERT_EQ(found.steps.size(), 1);
  EXPECT_EQ(found.steps.front().update.planned.job.cluster.devices(), 24);
  EXPECT_DOUBLE_EQ(found.steps.front().seconds_of_phase(StepPhaseKind::kGeneration), 10);
  EXPECT_THROW(splits_of(job_of("{kind: grpo, rollout: {seconds: 10, devices: 32}}")), Error);
  EXPECT_THROW(splits_of(job_of("{kind: grpo, rollout: {seconds: 10, devices: 12}}")), Error);
}

TEST(Pools, LeaveRoomForTheReference) {
  // On eight devices the fastest plan of updates alone leaves no room for a second copy.
  const auto searched = [](const char* objective, double limit_bytes) {
    plan::Job job = job_of(objective, 1, "qwen2.5-7b");
    job.objective.memory_limit_bytes = limit_bytes;
    return job;
  };
  const auto fastest = [](const plan::Job& job) {
    return tune::tune(job, {.threads = 1, .top = 1}).plans.front();
  };
  const tune::TunedPlan alone = fastest(searched("{kind: dpo, reference: host}", 0));
  const plan::Job limited = searched("dpo", 1.05 * alone.peak_memory_bytes);
  const tune::TunedPlan beside = fastest(limited);
  EXPECT_TRUE(beside.fits);
  EXPECT_NE(beside.plan, alone.plan);
  EXPECT_GE(beside.step_time_s, alone.step_time_s);
  const DevicePoolSplits found = splits_of(limited);
  EXPECT_TRUE(found.steps.front().fits());
  EXPECT_LE(found.steps.front().update.memory.peak_bytes, limited.objective.memory_limit_bytes);
}

TEST(Pools, OfOpenRlhfHaveNoPipelineAndTryACriticOfItsOwn) {
  plan::Job job = job_of("ppo");
  job.framework = {.name = "deepspeed", .version = "", .variant = "openrlhf"};
  const DevicePoolSplits found = splits_of(job);
  bool apart = false;
  for (const PhasedStep& step : found.steps) {
    EXPECT_TRUE(step.fits());
    EXPECT_EQ(step.devices, 32);
    EXPECT_EQ(step.update.planned.plan.parallel.pipeline, 1);
    apart = apart || step.method().critic.place == plan::SecondModelPlace::kOther;
  }
  EXPECT_TRUE(apart);
}

}  // namespace
}  // namespace stepwright::phases
