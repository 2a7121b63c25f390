#include "stepwright/memory/memory.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <random>

#include "stepwright/memory/fit_probability.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/host_memory.h"
#include "stepwright/plan/laws/legality.h"
#include "tests/memory/jobs.h"
#include "tests/memory/pieces.h"
#include "tests/memory/unrolled.h"

namespace stepwright::memory {
namespace {

using ::testing::IsEmpty;
using testing::item;
using testing::Piece;
using testing::random_program;
using testing::unroll;

double at(const StageMemory& stage, MemoryKind kind) {
  return stage.kinds[static_cast<std::size_t>(kind)];
}

double tensor_bytes(const StageMemory& stage) {
  return at(stage, MemoryKind::kActivations) + at(stage, MemoryKind::kLogits) +
         at(stage, MemoryKind::kGathered) + at(stage, MemoryKind::kCommunication);
}

/// Returns a pipeline whose forward pass saves 10 bytes with 100 of scratch, and whose backward
/// pass has 200 of scratch.
step::StepProgram pipeline(std::int32_t stages, std::int32_t micro_batches) {
  Piece forward;
  const step::TensorId saved = forward.tensor(10);
  forward.op({}, {saved, forward.tensor(100)}).save(saved);
  Piece backward;
  const step::TensorId old = backward.restored(10);
  backward.op({old}, {backward.tensor(200, step::TensorPurpose::kLogits)});
  step::StepProgram program;
  program.templates = {forward.get(), backward.get()};
  for (std::int32_t position = 0; position < stages; ++position) {
    step::PipelineStageProgram stage;
    stage.position = position;
    stage.sequences = {{schedule::Direction::kForward, 0, {item(0)}},
                       {schedule::Direction::kBackward, 0, {item(1)}}};
    std::int32_t done = 0;
    for (std::int32_t i = 0; i < micro_batches; ++i) {
      stage.schedule.push_back({0, i});
      if (i >= stages - 1 - position) stage.schedule.push_back({1, done++});
    }
    while (done < micro_batches) stage.schedule.push_back({1, done++});
    program.stages.push_back(stage);
  }
  return program;
}

// 1F1B with 3 stages: 3, 2 and 1 micro-batches are in flight; the largest moment is in a backward
// pass, in addition to 10 for each micro-batch in flight, its own included.
TEST(MemoryReport, CountsTheMicroBatchesInFlightOfEachStage) {
  const MemoryReport report = memory_report(plan::Job{}, pipeline(3, 8));
  ASSERT_EQ(report.stages.size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(at(report.stages[i], MemoryKind::kActivations), 10 * (3 - i));
    EXPECT_EQ(at(report.stages[i], MemoryKind::kLogits), 200);
  }
}

TEST(MemoryReport, CountsNoMoreThanThereAreMicroBatches) {
  const MemoryReport report = memory_report(plan::Job{}, pipeline(5, 2));
  EXPECT_EQ(at(report.stages[0], MemoryKind::kActivations), 20);
}

TEST(MemoryReport, AddsUpToItsPeaks) {
  step::StepProgram program = pipeline(2, 4);
  program.stages[0].states = {.parameters = 1000, .gradients = 2000, .optimizer = 4000};
  plan::Job job;
  job.cluster.device.memory_bytes = 6e6;
  const MemoryReport report = memory_report(job, program);
  EXPECT_EQ(at(report.stages[0], MemoryKind::kParameters), 1000);
  EXPECT_EQ(at(report.stages[0], MemoryKind::kGradients), 2000);
  EXPECT_EQ(at(report.stages[0], MemoryKind::kOptimizer), 4000);
  EXPECT_EQ(at(report.stages[0], MemoryKind::kReserve),
            std::ceil(1e6 + plan::FrameworkMemoryMargins().share * 220));
  for (const StageMemory& stage : report.stages) {
    double sum = 0;
    for (double bytes : stage.kinds) sum += bytes;
    EXPECT_EQ(sum, stage.peak_bytes);
  }
  EXPECT_EQ(report.peak_bytes, report.stages[0].peak_bytes);
}

TEST(MemoryReport, TakesTheLimitOfTheJobBeforeTheDevice) {
  plan::Job job;
  job.cluster.device.memory_bytes = 80e9;
  EXPECT_EQ(memory_report(job, pipeline(1, 1)).capacity_bytes, 80e9);
  job.objective.memory_limit_bytes = 5e9;
  const MemoryReport limited = memory_report(job, pipeline(1, 1));
  EXPECT_EQ(limited.capacity_bytes, 5e9);
  EXPECT_EQ(limited.reserve_bytes, 0);
  EXPECT_TRUE(limited.fits());
}

TEST(MemoryReport, KeepsFreeWhatTheAccountMayMissOrAJobStates) {
  plan::Job job;
  job.cluster.device.memory_bytes = 80e9;
  const step::StepProgram program = pipeline(1, 1);
  const double peak = memory_report(job, program).peak_bytes;
  const MemoryReport usual = memory_report(job, program);
  EXPECT_NEAR(usual.usable_memory_bytes(),
              predicted_peak_share_at_probability(kDefaultMemoryFitConfidence,
                                                  memory_prediction_error_model(job.framework)) *
                  80e9,
              1);
  job.objective.memory_confidence = 0.5;
  EXPECT_GT(usable_memory_bytes(job), usual.usable_memory_bytes());
  job.objective.memory_confidence = -1;
  job.objective.memory_reserve = 0.25;
  EXPECT_EQ(usable_memory_bytes(job), 60e9);
  job.objective.memory_limit_bytes = 2 * peak;
  EXPECT_TRUE(memory_report(job, program).fits());
  job.objective.memory_reserve = 0.75;
  const MemoryReport over = memory_report(job, program);
  EXPECT_FALSE(over.fits());
  EXPECT_EQ(over.memory_shortage_bytes(), peak - usable_memory_bytes(job));
}

TEST(MemoryReport, FitsMeansThatTheProbabilityIsAtLeastTheAskedOne) {
  plan::Job job;
  const step::StepProgram program = pipeline(1, 1);
  const double peak = memory_report(job, program).peak_bytes;
  for (const double share : {0.7, 0.8, 0.84, 0.87, 0.9, 0.95, 1.0, 1.1}) {
    job.cluster.device.memory_bytes = std::ceil(peak / share);
    for (const double confidence : {0.5, 0.9, 0.98}) {
      job.objective.memory_confidence = confidence;
      const MemoryReport report = memory_report(job, program);
      EXPECT_EQ(report.fits(), report.p_fits >= confidence) << share << " at " << confidence;
    }
  }
}

// The sizes of parameters and optimizer states are exact: where they alone exceed a device, only an
// outcome that no prediction explains fits. LLaMA-Factory issue 2379: 46.7 billion frozen weights
// of Mixtral 8x7B on each device of 80 GB.
TEST(MemoryReport, StatesAboveTheCapacityDoNotFit) {
  constexpr std::int64_t kStates = 1'000'000'000;
  plan::Job job;
  step::StepProgram program = pipeline(1, 1);
  program.stages[0].states.parameters = kStates / 4;
  program.stages[0].states.optimizer = kStates - kStates / 4;
  job.cluster.device.memory_bytes = kStates;
  EXPECT_GT(memory_report(job, program).p_fits, kUnexplainedMemoryOutcomeShare);
  job.cluster.device.memory_bytes = kStates - 1;
  const MemoryReport report = memory_report(job, program);
  EXPECT_EQ(report.p_fits, kUnexplainedMemoryOutcomeShare / 2);
  EXPECT_EQ(report.memory_fit_verdict_of_job(), MemoryFitVerdict::kDoesNotFit);
}

// Three, two and one micro-batch are offloaded to the hosts, and the copy that a backward pass has
// fetched is not freed yet.
TEST(MemoryReport, CountsWhatTheHostsOfANodeHold) {
  plan::Job job;
  job.cluster.devices_per_node = 4;
  job.cluster.device.memory_bytes = 80e9;
  step::StepProgram program = pipeline(3, 8);
  for (step::OperatorTemplate& piece : program.templates) piece.tensors.front().on_host = true;
  program.ranks = 3;
  program.keeps_on_host = true;
  for (step::PipelineStageProgram& stage : program.stages) stage.states.host = {.states = 1};
  program.stages[1].states.host = {.states = 15};
  // One rank of each position, with 3, 2 and 1 micro-batches.
  job.cluster.host.memory_bytes = (1 + 30) + (15 + 20) + (1 + 10);
  const MemoryReport report = memory_report(job, program);
  EXPECT_EQ(report.host_bytes, 31 + 35 + 11);
  EXPECT_EQ(at(report.stages[0], MemoryKind::kActivations), 0);
  EXPECT_TRUE(report.fits());
  job.cluster.host.memory_bytes -= 1;
  const MemoryReport over = memory_report(job, program);
  EXPECT_TRUE(over.fits_devices());
  EXPECT_FALSE(over.fits());
  EXPECT_EQ(over.memory_shortage_bytes(), 1);
  EXPECT_EQ(largest_part_of_scarce_memory(over), "host_memory");
}

/// Returns a random planned job that offloads a share of the optimizer states, and perhaps
/// parameters, to hosts of nodes with several devices.
plan::PlannedJob any_offloading_job(std::mt19937& random, bool frozen) {
  while (true) {
    plan::PlannedJob planned = testing::any_planned_job(random, frozen);
    auto& [job, plan] = planned;
    job.cluster.devices_per_node = std::gcd(job.cluster.nodes, std::int64_t{1} << random() % 3);
    job.cluster.nodes /= job.cluster.devices_per_node;
    job.cluster.device.host_link_bytes_per_s = 50e9;
    job.cluster.host = {.memory_bytes = 1e12, .memory_bandwidth_bytes_per_s = 100e9};
    plan.offload.optimizer = random() % 2 == 0 ? 1 : 0.37;
    plan.offload.masters = random() % 2 == 0;
    plan.offload.parameters = random() % 2 == 0;
    if (!plan::first_broken_rule(job, plan)) return planned;
  }
}

TEST(MemoryReport, HostsHoldAtLeastWhatTheLawOfHostMemoryCounts) {
  std::mt19937 random(26);
  int with_parameters = 0;
  for (int i = 0; i < 800; ++i) {
    const auto [job, plan] = any_offloading_job(random, i % 4 == 0);
    const double least = plan::min_host_memory_bytes(job, plan);
    const MemoryReport report = memory_report(job, step::build_step_program(job, plan));
    // A rank's share of an optimizer is cut down to whole elements, whose states are at most 16
    // bytes.
    const auto of_node = std::min(job.cluster.devices_per_node, plan.parallel.ranks());
    EXPECT_LE(least, report.host_bytes + static_cast<double>(16 * of_node)) << i;
    EXPECT_GT(least, 0);
    with_parameters += plan.offload.parameters ? 1 : 0;
  }
  EXPECT_GT(with_parameters, 15);
}

TEST(MemoryReport, NamesTheLargestKindOfTheLargestStage) {
  step::StepProgram program = pipeline(2, 4);
  program.stages[1].states.optimizer = 5000;
  EXPECT_EQ(largest_memory_kind(memory_report(plan::Job{}, program)), MemoryKind::kOptimizer);
  EXPECT_EQ(largest_memory_kind(memory_report(plan::Job{}, pipeline(1, 1))), MemoryKind::kLogits);
}

TEST(FrameworkReserve, IsTheFittedConstantOnALargeDeviceAndAShareOfASmallOne) {
  plan::Job job;
  job.cluster.device.memory_bytes = 80e9;
  EXPECT_EQ(framework_memory_reserve(job).fixed_bytes, kCudaContextBytes) << "no communicators";
  job.cluster.nodes = 2;
  EXPECT_EQ(framework_memory_reserve(job).fixed_bytes, kFrameworkReservedMemoryBytes);
  job.cluster.device.memory_bytes = 6e8;
  EXPECT_DOUBLE_EQ(framework_memory_reserve(job).fixed_bytes, 1e8);
}

TEST(MemoryReport, EqualsTheUnrolledWalkOnRandomPrograms) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const step::StepProgram program = random_program(random);
    const MemoryReport report = memory_report(plan::Job{}, program);
    for (std::size_t s = 0; s < program.stages.size(); ++s) {
      const testing::Unrolled unrolled = unroll(program, program.stages[s]);
      EXPECT_THAT(unrolled.faults, IsEmpty());
      EXPECT_EQ(unrolled.left_bytes, 0);
      ASSERT_EQ(tensor_bytes(report.stages[s]), unrolled.peak_bytes) << "program " << i;
    }
  }
}

TEST(MemoryReport, OfSixtyFourStagesAndFiveHundredMicroBatchesIsQuick) {
  const step::StepProgram program = pipeline(64, 512);
  const std::clock_t start = std::clock();  // of this process, however busy the machine is
  const MemoryReport report = memory_report(plan::Job{}, program);
  const std::clock_t taken = std::clock() - start;
  EXPECT_EQ(at(report.stages[0], MemoryKind::kActivations), 640);
  EXPECT_LT(taken, CLOCKS_PER_SEC / 2);
}

}  // namespace
}  // namespace stepwright::memory
