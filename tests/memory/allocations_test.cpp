#include "stepwright/memory/allocations.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

#include "stepwright/cluster/catalog.h"
#include "stepwright/memory/allocated.h"
#include "tests/memory/jobs.h"

namespace stepwright::memory {
namespace {

using testing::any_planned_job;
using ::testing::Contains;
using testing::gpt_job;
using ::testing::Key;
using ::testing::Pair;

/// The bytes that a simulation of allocations allocates and frees.
struct Tally {
  std::int64_t peak = 0;
  std::int64_t before = 0;  ///< Bytes allocated when the step begins.
  std::int64_t after = 0;   ///< Bytes allocated when the step ends.
  std::map<std::int64_t, PredictedAllocation> alive;

  explicit Tally(const plan::Job& job, const step::StepProgram& program,
                 const step::PipelineStageProgram& stage) {
    visit_predicted_allocations(job, program, stage,
                                {.allocate =
                                     [&](std::int64_t number, const PredictedAllocation& block) {
                                       EXPECT_TRUE(alive.emplace(number, block).second);
                                       EXPECT_GT(block.bytes, 0);
                                       after += block.bytes;
                                       peak = std::max(peak, after);
                                     },
                                 .free =
                                     [&](std::int64_t number) {
                                       after -= alive.at(number).bytes;
                                       alive.erase(number);
                                     },
                                 .begin_step = [&] { before = after; }});
  }
};

constexpr const char* kFrameworks[] = {"", "megatron-core", "torchtitan", "fsdp", "deepspeed"};

TEST(Allocations, HaveThePeakOfTheAccountWhateverThePlanAndTheFramework) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    plan::PlannedJob planned = any_planned_job(random);
    planned.job.framework = {.name = kFrameworks[i % std::size(kFrameworks)]};
    const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
    const auto allocated = pytorch_allocated_memory(planned.job, program);
    for (std::size_t stage = 0; stage < allocated.size(); ++stage) {
      const Tally tally(planned.job, program, program.stages[stage]);
      // Gradients that are made bit by bit are whole bytes here.
      const double exact = planned.job.framework.name.empty() ? 0 : 2;
      EXPECT_NEAR(static_cast<double>(tally.peak), allocated[stage].peak_bytes, exact)
          << i << ", stage " << stage << ", " << planned.job.framework.name;
      EXPECT_LE(static_cast<double>(tally.after), allocated[stage].peak_bytes + exact);
    }
  }
}

TEST(Allocations, LeaveNoTensorBehind) {
  std::mt19937 random(4);
  for (int i = 0; i < 30; ++i) {
    plan::PlannedJob planned = any_planned_job(random);
    planned.job.framework = {};
    const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
    for (const step::PipelineStageProgram& stage : program.stages) {
      const Tally tally(planned.job, program, stage);
      EXPECT_EQ(tally.after, tally.before);
    }
  }
}

TEST(Allocations, NameStatesByParameterAndTensorsByThePartOfTheirLayer) {
  plan::Job job = gpt_job(2, 512, 8, 1024);
  job.cluster = *cluster::built_in_cluster("dgx-a100-80g", 1);
  plan::Plan plan;
  plan.parallel.data = 8;
  const step::StepProgram program = step::build_step_program(job, plan);
  std::map<std::string, std::int64_t> bytes;
  visit_predicted_allocations(
      job, program, program.stages.front(),
      {.allocate =
           [&](std::int64_t, const PredictedAllocation& block) {
             bytes[model_block_name(block.unit) + " " + allocation_name(block)] += block.bytes;
           },
       .free = [](std::int64_t) {},
       .begin_step = [] {}});
  EXPECT_THAT(bytes, Contains(Pair("layer 1 mlp.fc1: parameter", 2 * 512 * 2048)));
  EXPECT_THAT(bytes, Contains(Key("layer 0 attention.dropout: mask")));
  EXPECT_THAT(bytes, Contains(Key("head head.weight")));
}

}  // namespace
}  // namespace stepwright::memory
