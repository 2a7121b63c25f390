#include "stepwright/memory/allocated.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

#include "stepwright/cluster/catalog.h"
#include "stepwright/memory/held.h"
#include "stepwright/memory/memory.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "tests/memory/jobs.h"
#include "tests/memory/unrolled.h"

namespace stepwright::memory {
namespace {

using testing::any_planned_job;
using testing::gpt_job;

double states_of(const step::PipelineStageProgram& stage) {
  return static_cast<double>(stage.states.parameters + stage.states.gradients +
                             stage.states.optimizer);
}

TEST(Allocated, IsTheAccountWithoutItsReserveWhereNothingIsHeld) {
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    plan::PlannedJob planned = any_planned_job(random);
    planned.job.framework = {};
    const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
    const MemoryReport report = memory_report(planned.job, program);
    const auto allocated = pytorch_allocated_memory(planned.job, program);
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
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 2};
  const step::StepProgram program = step::build_step_program(job, plan);
  const step::PipelineStageProgram& last = program.stages.back();
  const double inputs = 2 * 2 * 1024.0 * 512 * 2;
  EXPECT_EQ(pytorch_allocated_memory(job, program).back().after_step_bytes,
            states_of(last) + framework_held_bytes(job, program, last).always + inputs);
}

/// Returns a V-shaped schedule of two positions on one node, with separate weight gradients.
plan::PlannedJob cut_backwards() {
  plan::PlannedJob planned;
  planned.job = gpt_job(8, 512, 8, 1024);
  planned.job.framework = {.name = "torchtitan"};
  planned.job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  planned.plan.parallel = {.pipeline = 2, .data = 4};
  planned.plan.schedule = {.kind = schedule::PipelineScheduleKind::kZeroBubbleV, .chunks = 2};
  return planned;
}

TEST(Allocated, CutBackwardsHoldTheGradientsOfWhatChunksReceive) {
  const plan::PlannedJob planned = cut_backwards();
  const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
  const double each = static_cast<double>(program.micro_batches) * 1024 * 512 * 2;
  const double workspaces = 2 * blas_workspace_bytes(planned.job.cluster.device, false);
  for (const step::PipelineStageProgram& stage : program.stages) {
    // From the neighbour, a forward and a backward; the forward's gradient stays.
    EXPECT_EQ(framework_held_bytes(planned.job, program, stage).always, workspaces + 3 * each);
  }
}

/// Returns a plan of eight ranks that shard all states, as torchtitan runs it, with so many
/// micro-batches per step.
plan::PlannedJob shared_states(std::int64_t micro_batches) {
  plan::PlannedJob planned;
  planned.job = gpt_job(8, 512, 8, 1024);
  planned.job.framework = {.name = "torchtitan"};
  planned.job.kernels.fused_accumulation = false;
  planned.job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  planned.job.sequences = 8 * micro_batches;
  planned.plan.parallel.data = 8;
  planned.plan.sharding = *plan::sharding_named_by_word("GGG");
  return planned;
}

TEST(LateGradients, OfTheOnlyBackwardComeAfterItsLargestMoment) {
  const auto gradients = [](const plan::PlannedJob& planned) {
    const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
    const StageMemory stage = memory_report(planned.job, program).stages.front();
    return stage.kinds[static_cast<std::size_t>(MemoryKind::kGradients)] /
           static_cast<double>(program.stages.front().states.gradients);
  };
  EXPECT_LT(gradients(shared_states(1)), 0.5);
  EXPECT_EQ(gradients(shared_states(2)), 1) << "the second backward has all of the first";
  plan::PlannedJob kept = shared_states(1);
  kept.job.framework = {};
  EXPECT_EQ(gradients(kept), 1);
}

/// Returns a plan of eight ranks that each hold all states, as accelerate runs
/// DistributedDataParallel.
plan::PlannedJob whole_states() {
  plan::PlannedJob planned = shared_states(1);
  planned.job = gpt_job(8, 512, 8, 64);
  planned.job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  planned.job.framework = {.name = "accelerate"};
  planned.job.kernels.masters = plan::MasterWeights::kAlone;
  planned.job.sequences = 8;
  planned.plan.sharding = *plan::sharding_named_by_word("NNN");
  return planned;
}

// Rows of 64 tokens need little memory: the largest moment is the update, before which autocast has
// freed its casts.
TEST(PassingParameters, AreGoneWhenTheUpdateComes) {
  const plan::PlannedJob planned = whole_states();
  const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
  const step::PipelineStageProgram& stage = program.stages.front();
  const auto casts = static_cast<double>(stage.states.for_step);
  ASSERT_GT(casts, 0);
  EXPECT_EQ(pytorch_allocated_memory(planned.job, program).front().peak_bytes,
            states_of(stage) - casts + framework_held_bytes(planned.job, program, stage).always);
  const StageMemory account = memory_report(planned.job, program).stages.front();
  EXPECT_EQ(account.kinds[static_cast<std::size_t>(MemoryKind::kParameters)],
            static_cast<double>(stage.states.parameters) - casts);
}

TEST(ReductionInputs, AreCopiesInTheTypeOfMessages) {
  plan::PlannedJob planned = shared_states(1);
  const auto types = [&] {
    std::set<std::pair<DType, DType>> found;
    for (const step::OperatorTemplate& piece :
         step::build_step_program(planned.job, planned.plan).templates) {
      if (piece.name != "reduce") continue;
      const step::TensorId sent = piece.outputs.empty() ? piece.inputs.front() : piece.outputs[0];
      found.insert({piece.tensors[static_cast<std::size_t>(piece.inputs.front())].dtype,
                    piece.tensors[static_cast<std::size_t>(sent)].dtype});
    }
    return found;
  };
  using Types = std::set<std::pair<DType, DType>>;
  EXPECT_EQ(types(), (Types{{DType::kBf16, DType::kFp32}}));
  planned.job.kernels.fused_accumulation = true;
  EXPECT_EQ(types(), (Types{{DType::kFp32, DType::kFp32}}));
}

TEST(ReductionInputs, StayUntilTheNextReductionAsInTheUnrolledWalk) {
  for (const bool overlaps : {false, true}) {
    plan::PlannedJob planned = shared_states(2);
    planned.plan.overlap.gradients = overlaps;
    const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
    const testing::Unrolled walk = testing::unroll(program, program.stages.front());
    EXPECT_TRUE(walk.faults.empty());
    const StageMemory stage = memory_report(planned.job, program).stages.front();
    double tensors = 0;
    for (const MemoryKind kind : {MemoryKind::kActivations, MemoryKind::kLogits,
                                  MemoryKind::kGathered, MemoryKind::kCommunication}) {
      tensors += stage.kinds[static_cast<std::size_t>(kind)];
    }
    EXPECT_EQ(walk.peak_bytes, tensors);
  }
}

}  // namespace
}  // namespace stepwright::memory
