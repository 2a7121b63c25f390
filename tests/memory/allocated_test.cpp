#include "stepwright/memory/allocated.h"

#include <gtest/gtest.h>

#include <random>

#include "stepwright/cluster/catalog.h"
#include "stepwright/memory/held.h"
#include "stepwright/memory/memory.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "tests/memory/jobs.h"

namespace stepwright::memory {
namespace {

using testing::any_planned_job;
using testing::gpt_job;

double states_of(const step::Stage& stage) {
  return static_cast<double>(stage.states.parameters + stage.states.gradients +
                             stage.states.optimizer);
}

TEST(Allocated, IsTheAccountWithoutItsReserveWhereNothingIsHeld) {
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    plan::PlannedJob planned = any_planned_job(random);
    planned.job.framework = {};
    const step::StepProgram program = step::build_program(planned.job, planned.plan);
    const MemoryReport report = memory_report(planned.job, program);
    const auto allocated = allocated_memory(planned.job, program);
    for (std::size_t stage = 0; stage < allocated.size(); ++stage) {
      const StageMemory& account = report.stages[stage];
      EXPECT_EQ(allocated[stage].peak_bytes,
                account.peak_bytes - account.kinds[static_cast<std::size_t>(MemoryKind::kReserve)]);
      EXPECT_EQ(allocated[stage].after_step_bytes, states_of(program.stages[stage]));
    }
  }
}

TEST(Allocated, ChunksKeepTheirLastInputAndItsGradientBetweenSteps) {
  plan::Job job = gpt_job(8, 512, 8, 1024);
  job.framework = {.name = "megatron-core"};
  job.cluster = *cluster::built_in_cluster("dgx-a100-80g", 1);
  plan::Plan plan;
  plan.parallel.pipeline = 2;
  plan.parallel.data = 4;
  plan.schedule = {.kind = schedule::ScheduleKind::kInterleaved, .chunks = 2};
  const step::StepProgram program = step::build_program(job, plan);
  const step::Stage& last = program.stages.back();
  const double inputs = 2 * 2 * 1024.0 * 512 * 2;
  EXPECT_EQ(allocated_memory(job, program).back().after_step_bytes,
            states_of(last) + held_bytes(job, program, last).always + inputs);
}

/// A V of two positions on one node, whose backwards are cut.
plan::PlannedJob cut_backwards() {
  plan::PlannedJob planned;
  planned.job = gpt_job(8, 512, 8, 1024);
  planned.job.framework = {.name = "torchtitan"};
  planned.job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  planned.plan.parallel = {.pipeline = 2, .data = 4};
  planned.plan.schedule = {.kind = schedule::ScheduleKind::kZeroBubbleV, .chunks = 2};
  return planned;
}

TEST(Allocated, CutBackwardsHoldTheGradientsOfWhatChunksReceive) {
  const plan::PlannedJob planned = cut_backwards();
  const step::StepProgram program = step::build_program(planned.job, planned.plan);
  const double each = static_cast<double>(program.micro_batches) * 1024 * 512 * 2;
  const double workspaces = 2 * blas_workspace_bytes(planned.job.cluster.device, false);
  for (const step::Stage& stage : program.stages) {
    // From the neighbour, a forward and a backward; the forward's gradient stays.
    EXPECT_EQ(held_bytes(planned.job, program, stage).always, workspaces + 3 * each);
  }
}

}  // namespace
}  // namespace stepwright::memory
