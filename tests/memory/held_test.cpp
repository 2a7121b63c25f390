#include "stepwright/memory/held.h"

#include <gtest/gtest.h>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/generation.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "tests/memory/jobs.h"

namespace stepwright::memory {
namespace {

using testing::gpt_job;

constexpr double kMiB = 1024 * 1024;

cluster::DeviceModel device(std::string_view generation) {
  return {.generation = &cluster::find_device_generation(generation)};
}

/// Returns a job for GPT in Megatron-Core on A100, with the framework's own kernels.
plan::Job megatron_job() {
  plan::Job job = gpt_job(4, 512, 8, 1024);
  job.framework = {.name = "megatron-core"};
  job.cluster = *cluster::built_in_cluster("dgx-a100-80g", 1);
  job.kernels = plan::default_kernels(job.framework, job.cluster.device);
  job.kernels.attention = cluster::AttentionKernel::kUnfused;
  return job;
}

plan::Plan two_stages() {
  plan::Plan plan;
  plan.parallel.pipeline = 2;
  plan.parallel.data = 4;
  plan.micro_batch = 4;
  return plan;
}

FrameworkHeldBytes held_by_last(const plan::Job& job, const plan::Plan& plan) {
  const step::StepProgram program = step::build_step_program(job, plan);
  return framework_held_bytes(job, program, program.stages.back());
}

TEST(Held, WorkspacesAreThoseOfTheGeneration) {
  EXPECT_EQ(blas_workspace_bytes(device("A100"), false), 8.125 * kMiB);
  EXPECT_EQ(blas_workspace_bytes(device("H100"), false), 32 * kMiB);
  EXPECT_EQ(blas_workspace_bytes(device("B200"), false), 8.125 * kMiB);
  EXPECT_EQ(blas_workspace_bytes(device("A100"), true), 32 * kMiB);
  EXPECT_EQ(transformer_engine_workspace_bytes(device("A100")), 4 * kMiB);
  EXPECT_EQ(transformer_engine_workspace_bytes(device("B200")), 32 * kMiB);
}

TEST(Held, IsNothingWithoutAFramework) {
  plan::Job job = megatron_job();
  job.framework = {};
  const FrameworkHeldBytes held = held_by_last(job, two_stages());
  EXPECT_EQ(held.always + held.in_passes + held.between_steps + held.stage_input, 0);
}

TEST(Held, OfTwoStagesInTransformerEngineByHand) {
  const FrameworkHeldBytes held = held_by_last(megatron_job(), two_stages());
  EXPECT_EQ(held.always, (2 * 8.125 + 4) * kMiB);
  EXPECT_EQ(held.stage_input, 4 * 1024 * 512 * 2);
  EXPECT_EQ(held.in_passes, 4 * 1024 * (28 + 1024));
  EXPECT_EQ(held.between_steps, 0);
}

TEST(Held, LocalLayersShareABufferForScoresInThePlaceOfTheEnginesWorkspace) {
  plan::Job job = megatron_job();
  job.kernels.transformer_engine = false;
  EXPECT_EQ(held_by_last(job, two_stages()).always, 2 * 8.125 * kMiB + 4.0 * 8 * 1024 * 1024 * 2);
}

TEST(Held, ProductsBesideMessagesHaveThreeMoreWorkspaces) {
  plan::Plan plan;
  plan.parallel.tensor = 2;
  plan.parallel.data = 4;
  plan.sequence_parallel = true;
  const double waiting = held_by_last(megatron_job(), plan).always;
  plan.overlap.tensor = true;
  EXPECT_EQ(held_by_last(megatron_job(), plan).always - waiting, 3 * 4 * kMiB);
}

TEST(Held, NarrowGradientsBecomeWideForTheOptimizer) {
  plan::Plan plan = two_stages();
  plan.accumulate = DType::kBf16;
  const plan::Job job = megatron_job();
  const step::StepProgram program = step::build_step_program(job, plan);
  EXPECT_EQ(framework_held_bytes(job, program, program.stages[0]).between_steps,
            4.0 * static_cast<double>(program.stages[0].dense_parameters));
}

}  // namespace
}  // namespace stepwright::memory
