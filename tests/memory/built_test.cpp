// Memory of the programs that `build_step_program` builds.
#include <gmock/gmock.h>

#include "stepwright/memory/memory.h"
#include "tests/memory/jobs.h"
#include "tests/memory/unrolled.h"
#include "tests/plan/shown.h"

namespace stepwright::memory {
namespace {

using testing::gpt_job;
using ::testing::IsEmpty;
using testing::template_named;

constexpr double kS = 2048, kB = 2, kH = 4096, kA = 32;
constexpr double kSbh = kS * kB * kH;

/// Returns the bytes that one layer keeps per micro-batch.
double retained(const plan::Plan& plan) {
  const plan::Job job = gpt_job(8, 4096, 32, 2048);
  const step::StepProgram program = step::build_step_program(job, plan);
  return total_bytes(
      template_memory_footprint(template_named(program, "layer.forward"), 1.0).retained);
}

plan::Plan plan_with_tensor(std::int64_t tensor) {
  plan::Plan plan;
  plan.parallel.tensor = tensor;
  plan.micro_batch = 2;
  return plan;
}

void expect_within(double found, double expected, double share) {
  EXPECT_NEAR(found, expected, share * expected);
}

// Korthikanti et al. 2022 (2205.05198), equations 1-4 and table 2. Tensors that they leave out are
// small: two fp32 statistics per norm and token.
TEST(BuiltProgram, KeepsTheActivationsOfKorthikanti) {
  expect_within(retained(plan_with_tensor(1)), kSbh * (34 + 5 * kA * kS / kH), 0.005);
}

TEST(BuiltProgram, KeepsTheActivationsOfKorthikantiUnderTensorParallelism) {
  const double t = 8;
  expect_within(retained(plan_with_tensor(8)), kSbh * (10 + 24 / t + 5 * kA * kS / (kH * t)),
                0.005);
}

TEST(BuiltProgram, KeepsTheActivationsOfKorthikantiUnderSequenceParallelism) {
  plan::Plan plan = plan_with_tensor(8);
  plan.sequence_parallel = true;
  plan.tensor_input = plan::GatheredInputPolicy::kRegather;
  expect_within(retained(plan), kSbh / 8 * (34 + 5 * kA * kS / kH), 0.005);
}

TEST(BuiltProgram, KeepsTheActivationsOfKorthikantiUnderSelectiveRecomputation) {
  plan::Plan plan = plan_with_tensor(8);
  plan.sequence_parallel = true;
  plan.tensor_input = plan::GatheredInputPolicy::kRegather;
  plan.recompute.kind = plan::RecomputeKind::kSelective;
  expect_within(retained(plan), 34 * kSbh / 8, 0.005);
}

TEST(BuiltProgram, KeepsTheLayersInputUnderFullRecomputation) {
  plan::Plan plan = plan_with_tensor(8);
  plan.recompute.kind = plan::RecomputeKind::kFull;
  EXPECT_EQ(retained(plan), 2 * kSbh);
}

TEST(BuiltProgram, KeepsGatheredInputsWhenTheyAreNotGatheredAgain) {
  plan::Plan plan = plan_with_tensor(8);
  plan.sequence_parallel = true;
  plan.tensor_input = plan::GatheredInputPolicy::kKeep;
  // The inputs of the two column-parallel products, 2 sbh each, whole instead of an eighth.
  expect_within(retained(plan), kSbh / 8 * (30 + 5 * kA * kS / kH) + 4 * kSbh, 0.005);
}

class Walked : public ::testing::TestWithParam<bool> {};

/// Jobs that train all weights, and jobs that freeze some.
INSTANTIATE_TEST_SUITE_P(BuiltProgram, Walked, ::testing::Bool());

TEST_P(Walked, HasItsMemoryFromTheUnrolledWalk) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const auto [job, plan] = testing::any_planned_job(random, GetParam());
    SCOPED_TRACE(plan::shown(plan));
    const step::StepProgram program = step::build_step_program(job, plan);
    const MemoryReport report = memory_report(job, program);
    for (std::size_t s = 0; s < program.stages.size(); ++s) {
      const testing::Unrolled unrolled = testing::unroll(program, program.stages[s]);
      ASSERT_THAT(unrolled.faults, IsEmpty());
      EXPECT_EQ(unrolled.left_bytes, 0);
      double tensors = 0;
      for (const MemoryKind kind : {MemoryKind::kActivations, MemoryKind::kLogits,
                                    MemoryKind::kGathered, MemoryKind::kCommunication}) {
        tensors += report.stages[s].kinds[static_cast<std::size_t>(kind)];
      }
      ASSERT_EQ(tensors, unrolled.peak_bytes);
    }
  }
}

}  // namespace
}  // namespace stepwright::memory
