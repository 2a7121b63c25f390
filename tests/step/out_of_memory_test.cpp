#include <gtest/gtest.h>

#include <new>

#include "stepwright/step/program.h"
#include "tests/allocations.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

/// Number of builds in which one call of `operator new` fails, spread over all calls of a build.
constexpr std::int64_t kFailures = 400;

/// Builds the program repeatedly, each time with another failing allocation; everything built so
/// far must be destroyed without error.
void expect_bad_alloc_everywhere(const plan::Job& job, const plan::Plan& plan) {
  const std::size_t stages = build_step_program(job, plan).stages.size();  // and tables made once
  const std::int64_t before = testing::allocations();
  build_step_program(job, plan);
  const std::int64_t whole = testing::allocations() - before;
  ASSERT_GT(whole, kFailures);
  for (std::int64_t i = 0; i < kFailures; ++i) {
    testing::fail_allocation_after(i * whole / kFailures);
    EXPECT_THROW(build_step_program(job, plan), std::bad_alloc) << i;
    testing::fail_allocation_after(-1);
  }
  EXPECT_EQ(build_step_program(job, plan).stages.size(), stages);
}

TEST(OutOfMemory, LeavesABuildWithBlocksOfAPipeline) {
  const plan::Job job = job_of("llama-3-8b", 1, 16, 1024);
  expect_bad_alloc_everywhere(job, plan_of(job, 2, 2));
}

TEST(OutOfMemory, LeavesABuildWithAVocabularyOverPositions) {
  const plan::Job job = job_of("llama-3-8b", 1, 16, 1024);
  for (const auto kind : {schedule::PipelineScheduleKind::kSpreadVocabulary,
                          schedule::PipelineScheduleKind::kVocabularyOne}) {
    plan::Plan plan = plan_of(job, 2, 2);
    plan.schedule.kind = kind;
    expect_bad_alloc_everywhere(job, plan);
  }
}

}  // namespace
}  // namespace stepwright::step
