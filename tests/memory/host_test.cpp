#include "stepwright/memory/host.h"

#include <gtest/gtest.h>

#include "jobs.h"
#include "stepwright/memory/memory.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::memory {
namespace {

double of(const HostBytes& kinds, HostMemoryKind kind) {
  return kinds[static_cast<std::size_t>(kind)];
}

/// Returns a plan with eight data-parallel ranks on two nodes of four.
plan::PlannedJob eight_ranks(const std::string& framework) {
  plan::PlannedJob planned{.job = testing::gpt_job(2, 64, 4, 128), .plan = {}};
  plan::Job& job = planned.job;
  job.framework.name = framework;
  job.cluster.devices_per_node = 4;
  job.cluster.nodes = 2;
  job.cluster.device.memory_bytes = 80e9;
  job.cluster.device.host_link_bytes_per_s = 50e9;
  job.sequences = 8;
  planned.plan.parallel.data = 8;
  planned.plan.sharding.optimizer = plan::StateShardingScope::kGlobal;
  return planned;
}

HostBytes host_of(const plan::PlannedJob& planned) {
  return host_bytes(planned.job, step::build_step_program(planned.job, planned.plan));
}

TEST(HostMemory, HasAProcessForEachRankOfANode) {
  const plan::PlannedJob planned = eight_ranks("deepspeed");
  const HostBytes kinds = host_of(planned);
  EXPECT_EQ(of(kinds, HostMemoryKind::kProcesses),
            4 * plan::framework_defaults(planned.job.framework).host_process_bytes);
  EXPECT_GT(of(kinds, HostMemoryKind::kProcesses), 4e9);
  EXPECT_EQ(of(kinds, HostMemoryKind::kStates), 0);
  EXPECT_EQ(of(kinds, HostMemoryKind::kLoaders), 0) << "the trainer's own processes load";
}

TEST(HostMemory, HasTheLoadersOfEachRank) {
  EXPECT_GT(of(host_of(eight_ranks("megatron-core")), HostMemoryKind::kLoaders), 4 * 2 * 10e6);
}

TEST(HostMemory, SumsToWhatAReportSays) {
  plan::PlannedJob planned = eight_ranks("deepspeed");
  planned.plan.offload.optimizer = 1;
  const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
  const MemoryReport report = memory_report(planned.job, program);
  EXPECT_EQ(total_bytes(report.host_kinds), report.host_bytes);
  EXPECT_TRUE(report.offloads_to_host_memory());
  const double left = of(report.host_kinds, HostMemoryKind::kStates) +
                      of(report.host_kinds, HostMemoryKind::kGradients);
  EXPECT_NEAR(of(report.host_kinds, HostMemoryKind::kPinned), 0.5 * left, 8) << "a factor of 1.5";
  EXPECT_NEAR(of(report.host_kinds, HostMemoryKind::kGradients), left / 4, 8)
      << "fp32 gradients beside masters and two moments";
}

TEST(HostMemory, HoldsACheckpointInEachProcessWhereParametersAreWhole) {
  plan::PlannedJob planned = eight_ranks("accelerate");
  planned.job.method.kind = plan::TrainingMethodKind::kSft;
  planned.plan.sharding = {};
  const double whole = 2 * static_cast<double>(model::count_parameters(planned.job.model));
  const HostBytes kinds = host_of(planned);
  EXPECT_NEAR(of(kinds, HostMemoryKind::kLoading), 4 * whole, 1);
  planned.plan.sharding.optimizer = planned.plan.sharding.gradients =
      planned.plan.sharding.parameters = plan::StateShardingScope::kGlobal;
  EXPECT_NEAR(of(host_of(planned), HostMemoryKind::kLoading), whole, 1)
      << "the first rank alone reads it";
  planned.job.method.kind = plan::TrainingMethodKind::kPretrain;
  EXPECT_EQ(of(host_of(planned), HostMemoryKind::kLoading), 0);
}

}  // namespace
}  // namespace stepwright::memory
