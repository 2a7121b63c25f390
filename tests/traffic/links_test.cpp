#include "stepwright/traffic/links.h"

#include <gtest/gtest.h>

#include "stepwright/collective/closed_form.h"
#include "stepwright/collective/generate.h"
#include "stepwright/traffic/ledger.h"
#include "tests/collective/schedule_bytes.h"
#include "tests/traffic/programs.h"

namespace stepwright::traffic {
namespace {

using testing::cluster_of;
using testing::message;
using testing::plan_of;
using testing::program_of;

collective::LinkLoads loads_of(const plan::Plan& plan, const step::Operator& op,
                               const cluster::Cluster& cluster) {
  return bytes_over_each_link(
      {program_of(plan, {op}), plan::RankGrid(plan), cluster, plan.collectives}, cluster);
}

step::Operator gather(std::int64_t bytes) {
  return message(step::OperatorKind::kAllGather, step::ParallelismScheme::kData,
                 plan::CommunicatorKind::kDataContext, bytes);
}

// A ring of 8 over 2 nodes of 4, 700 sent by each: ranks 3 and 7 send theirs out of their node
// through their own NICs, the others over NVLink.
TEST(LinkLoads, OfARingLeavesEachNodeOnce) {
  const collective::LinkLoads loads = loads_of(plan_of({.data = 8}), gather(800), cluster_of(2, 4));
  ASSERT_EQ(loads.levels.size(), 2);
  EXPECT_EQ(loads.levels[0].name, "nvlink");
  EXPECT_EQ(loads.levels[0].units, 8);
  EXPECT_EQ(loads.levels[0].busiest_bytes, 700);
  EXPECT_EQ(loads.levels[0].mean_bytes, 700 * 6.0 / 8);
  EXPECT_EQ(loads.levels[1].units, 2);
  EXPECT_EQ(loads.levels[1].busiest_bytes, 700);
  EXPECT_EQ(loads.levels[1].mean_bytes, 700);
  EXPECT_EQ(loads.nics.units, 8);
  EXPECT_EQ(loads.nics.busiest_unit, 3);
  EXPECT_EQ(loads.nics.busiest_bytes, 700);
  EXPECT_EQ(loads.nics.mean_bytes, 175);
}

// The same on two levels: 600 of each over NVLink, 100 of each out through its NIC.
TEST(LinkLoads, OfTwoLevelsSpreadsOverAllNics) {
  plan::Plan plan = plan_of({.data = 8});
  plan.collectives.data = collective::CollectiveAlgorithm::kTwoLevel;
  const collective::LinkLoads loads = loads_of(plan, gather(800), cluster_of(2, 4));
  EXPECT_EQ(loads.levels[0].busiest_bytes, 600);
  EXPECT_EQ(loads.levels[0].mean_bytes, 600);
  EXPECT_EQ(loads.levels[1].busiest_bytes, 400);
  EXPECT_EQ(loads.nics.busiest_bytes, 100);
  EXPECT_EQ(loads.nics.mean_bytes, 100);
}

/// A plan's HO-Ring loads each link as its schedule does.
TEST(LinkLoads, OfAnHoRingAreThoseOfItsSchedule) {
  plan::Plan plan = plan_of({.data = 8});
  plan.collectives.data = collective::CollectiveAlgorithm::kHoRing;
  const cluster::Cluster cluster = cluster_of(2, 4);
  const collective::LinkLoads loads = loads_of(plan, gather(800), cluster);
  const collective::CollectiveSchedule schedule =
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kHoRing,
                                                collective::CollectiveOperation::kAllGather,
                                                {4, 2},
                                                2,
                                                collective::intra_node_pattern(cluster)});
  const collective::LinkLoads scheduled = collective::schedule_bytes(schedule, cluster, 800).links;
  for (std::size_t i = 0; i < scheduled.levels.size(); ++i) {
    EXPECT_NEAR(loads.levels[i].busiest_bytes, scheduled.levels[i].busiest_bytes, 1e-9);
    EXPECT_NEAR(loads.levels[i].mean_bytes, scheduled.levels[i].mean_bytes, 1e-9);
  }
  EXPECT_NEAR(loads.nics.busiest_bytes, scheduled.nics.busiest_bytes, 1e-9);
}

/// Returns the operation with which a test runs an algorithm; only trees and relays need a
/// particular one.
step::Operator operation_of(collective::CollectiveAlgorithm algorithm) {
  if (collective::supports_collective(algorithm, collective::CollectiveOperation::kAllGather))
    return gather(1600);
  const step::OperatorKind kind =
      collective::supports_collective(algorithm, collective::CollectiveOperation::kAllToAll)
          ? step::OperatorKind::kAllToAll
          : step::OperatorKind::kAllReduce;
  return message(kind, step::ParallelismScheme::kData, plan::CommunicatorKind::kDataContext, 1600);
}

/// Whatever a plan names, each link carries what the schedule sends, and the total equals the
/// ledger.
TEST(LinkLoads, AreThoseOfTheSchedulesAndSumUpToTheLedger) {
  const cluster::Cluster cluster = cluster_of(4, 2);
  for (const auto& [algorithm, name] : collective::kGeneratedCollectiveAlgorithmNames) {
    SCOPED_TRACE(name);
    plan::Plan plan = plan_of({.data = 8});
    plan.collectives.data = algorithm;
    const step::Operator op = operation_of(algorithm);
    const step::StepProgram program = program_of(plan, {op});
    const plan::RankGrid grid(plan);
    const TrafficMatrix matrix(program, grid, cluster, plan.collectives);
    const collective::LinkLoads loads = bytes_over_each_link(matrix, cluster);
    const collective::LinkLoads scheduled =
        collective::schedule_bytes(
            collective::generate_collective_schedule({algorithm,
                                                      step::collective_of_operator(op.kind),
                                                      {2, 4},
                                                      1,
                                                      collective::intra_node_pattern(cluster)}),
            cluster, 1600)
            .links;
    for (std::size_t i = 0; i < scheduled.levels.size(); ++i) {
      EXPECT_NEAR(loads.levels[i].mean_bytes, scheduled.levels[i].mean_bytes, 1e-9);
      EXPECT_NEAR(loads.levels[i].busiest_bytes, scheduled.levels[i].busiest_bytes, 1e-9);
    }
    double sent = 0;
    for (std::int64_t rank = 0; rank < 8; ++rank) {
      for (const TrafficEdge& edge : matrix.traffic_sent_by_rank(rank)) sent += edge.bytes;
    }
    const auto sums = traffic_totals_by_scheme(
        count_traffic_of_step(program, std::nullopt, grid, {&cluster, plan.collectives}));
    EXPECT_NEAR(sent, sums.at(step::ParallelismScheme::kData).sent_bytes, 1e-9);
  }
}

/// Two nodes of eight: 800 bytes go up, 100 of the sum once more, and 2 * 1/16 of them between the
/// nodes.
TEST(LinkLoads, OfAddingSwitchesGoUpOnce) {
  cluster::Cluster cluster = cluster_of(2, 8);
  cluster.device.peak_flops[DType::kBf16] = 989e12;  // of Hopper
  cluster.levels[0].links = cluster::LinkTechnology::kNvlink;
  plan::Plan plan = plan_of({.data = 16});
  plan.collectives.data = collective::CollectiveAlgorithm::kNvls;
  const step::Operator op = message(step::OperatorKind::kAllReduce, step::ParallelismScheme::kData,
                                    plan::CommunicatorKind::kDataContext, 800);
  const collective::LinkLoads loads = loads_of(plan, op, cluster);
  EXPECT_NEAR(loads.levels[0].busiest_bytes, 900, 1e-9);
  EXPECT_NEAR(loads.nics.busiest_bytes, 100, 1e-9);
}

TEST(LinkLoads, AddsUpTheDevicesThatShareANic) {
  cluster::Cluster cluster = cluster_of(2, 4);
  cluster.nics_per_node = 2;
  cluster.nic_of_device = {0, 0, 1, 1};
  const plan::Plan plan = plan_of({.tensor = 4, .pipeline = 2});
  step::Operator op = message(step::OperatorKind::kSend, step::ParallelismScheme::kPipeline,
                              plan::CommunicatorKind::kPipeline, 50);
  op.stream = step::DeviceStream::kPipelineForward;
  const collective::LinkLoads loads = loads_of(plan, op, cluster);
  EXPECT_EQ(loads.nics.units, 4);
  EXPECT_EQ(loads.nics.busiest_bytes, 100);
  EXPECT_EQ(loads.levels[0].busiest_bytes, 0);
}

// Nodes of 2 under leaves of 4 under a spine of 8: a ring crosses every node, every second one also
// its leaf.
TEST(LinkLoads, CountsOuterLevelsForWhatCrossesThem) {
  cluster::Cluster cluster = cluster_of(4, 2);
  cluster.levels = {{"nvlink", 2, 1e9, 0}, {"leaf", 4, 1e9, 0}, {"spine", 8, 1e9, 0}};
  cluster.nic_of_device.clear();
  const collective::LinkLoads loads = loads_of(plan_of({.data = 8}), gather(800), cluster);
  EXPECT_EQ(loads.levels[1].units, 4);
  EXPECT_EQ(loads.levels[1].mean_bytes, 700);
  EXPECT_EQ(loads.levels[2].units, 2);
  EXPECT_EQ(loads.levels[2].mean_bytes, 700);
  EXPECT_EQ(loads.nics.units, 0);
}

}  // namespace
}  // namespace stepwright::traffic
