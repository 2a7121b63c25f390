#include "stepwright/traffic/links.h"

#include <gtest/gtest.h>

#include "stepwright/collective/closed_form.h"
#include "stepwright/collective/generate.h"
#include "stepwright/traffic/ledger.h"
#include "tests/collective/schedule_bytes.h"
#include "tests/traffic/programs.h"

namespace stepwright {
namespace {

using testing::cluster_of;
using testing::message;
using testing::plan_of;
using testing::program_of;

LinkLoads loads_of(const Plan& plan, const Operator& op, const Cluster& cluster) {
  return link_loads({program_of(plan, {op}), Grid(plan), cluster, plan.collectives}, cluster);
}

Operator gather(std::int64_t bytes) {
  return message(OperatorKind::kAllGather, Scheme::kData, GroupKind::kDataContext, bytes);
}

// A ring of 8 over 2 nodes of 4, 700 sent by each: ranks 3 and 7 send theirs out of their node
// through their own NICs, the others over NVLink.
TEST(LinkLoads, OfARingLeavesEachNodeOnce) {
  const LinkLoads loads = loads_of(plan_of({.data = 8}), gather(800), cluster_of(2, 4));
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
  Plan plan = plan_of({.data = 8});
  plan.collectives.data = Algorithm::kTwoLevel;
  const LinkLoads loads = loads_of(plan, gather(800), cluster_of(2, 4));
  EXPECT_EQ(loads.levels[0].busiest_bytes, 600);
  EXPECT_EQ(loads.levels[0].mean_bytes, 600);
  EXPECT_EQ(loads.levels[1].busiest_bytes, 400);
  EXPECT_EQ(loads.nics.busiest_bytes, 100);
  EXPECT_EQ(loads.nics.mean_bytes, 100);
}

/// A plan's HO-Ring puts on each link what its schedule does.
TEST(LinkLoads, OfAnHoRingAreThoseOfItsSchedule) {
  Plan plan = plan_of({.data = 8});
  plan.collectives.data = Algorithm::kHoRing;
  const Cluster cluster = cluster_of(2, 4);
  const LinkLoads loads = loads_of(plan, gather(800), cluster);
  const CollectiveSchedule schedule =
      generate({Algorithm::kHoRing, Collective::kAllGather, {4, 2}, 2, inner_for(cluster)});
  const LinkLoads scheduled = schedule_bytes(schedule, cluster, 800).links;
  for (std::size_t i = 0; i < scheduled.levels.size(); ++i) {
    EXPECT_NEAR(loads.levels[i].busiest_bytes, scheduled.levels[i].busiest_bytes, 1e-9);
    EXPECT_NEAR(loads.levels[i].mean_bytes, scheduled.levels[i].mean_bytes, 1e-9);
  }
  EXPECT_NEAR(loads.nics.busiest_bytes, scheduled.nics.busiest_bytes, 1e-9);
}

/// The operation that a test runs an algorithm for: of all but trees and relays any would do.
Operator operation_of(Algorithm algorithm) {
  if (covers(algorithm, Collective::kAllGather)) return gather(1600);
  const OperatorKind kind =
      covers(algorithm, Collective::kAllToAll) ? OperatorKind::kAllToAll : OperatorKind::kAllReduce;
  return message(kind, Scheme::kData, GroupKind::kDataContext, 1600);
}

/// Whatever a plan names: on each link what the schedule sends, in all what the ledger says.
TEST(LinkLoads, AreThoseOfTheSchedulesAndSumUpToTheLedger) {
  const Cluster cluster = cluster_of(4, 2);
  for (const auto& [algorithm, name] : kGeneratedNames) {
    SCOPED_TRACE(name);
    Plan plan = plan_of({.data = 8});
    plan.collectives.data = algorithm;
    const Operator op = operation_of(algorithm);
    const StepProgram program = program_of(plan, {op});
    const Grid grid(plan);
    const TrafficMatrix matrix(program, grid, cluster, plan.collectives);
    const LinkLoads loads = link_loads(matrix, cluster);
    const LinkLoads scheduled =
        schedule_bytes(generate({algorithm, collective_of(op.kind), {2, 4}, 1, inner_for(cluster)}),
                       cluster, 1600)
            .links;
    for (std::size_t i = 0; i < scheduled.levels.size(); ++i) {
      EXPECT_NEAR(loads.levels[i].mean_bytes, scheduled.levels[i].mean_bytes, 1e-9);
      EXPECT_NEAR(loads.levels[i].busiest_bytes, scheduled.levels[i].busiest_bytes, 1e-9);
    }
    double sent = 0;
    for (std::int64_t rank = 0; rank < 8; ++rank) {
      for (const Edge& edge : matrix.row(rank)) sent += edge.bytes;
    }
    const auto sums = totals(ledger(program, std::nullopt, grid, {&cluster, plan.collectives}));
    EXPECT_NEAR(sent, sums.at(Scheme::kData).sent_bytes, 1e-9);
  }
}

/// Two nodes of eight: 800 go up, 100 of the sum once more, and 2 * 1/16 of them between the nodes.
TEST(LinkLoads, OfAddingSwitchesGoUpOnce) {
  Cluster cluster = cluster_of(2, 8);
  cluster.device.peak_flops[DType::kBf16] = 989e12;  // of Hopper
  cluster.levels[0].links = Links::kNvlink;
  Plan plan = plan_of({.data = 16});
  plan.collectives.data = Algorithm::kNvls;
  const Operator op =
      message(OperatorKind::kAllReduce, Scheme::kData, GroupKind::kDataContext, 800);
  const LinkLoads loads = loads_of(plan, op, cluster);
  EXPECT_NEAR(loads.levels[0].busiest_bytes, 900, 1e-9);
  EXPECT_NEAR(loads.nics.busiest_bytes, 100, 1e-9);
}

TEST(LinkLoads, AddsUpTheDevicesThatShareANic) {
  Cluster cluster = cluster_of(2, 4);
  cluster.nics_per_node = 2;
  cluster.nic_of_device = {0, 0, 1, 1};
  const Plan plan = plan_of({.tensor = 4, .pipeline = 2});
  Operator op = message(OperatorKind::kSend, Scheme::kPipeline, GroupKind::kPipeline, 50);
  op.stream = Stream::kPipelineForward;
  const LinkLoads loads = loads_of(plan, op, cluster);
  EXPECT_EQ(loads.nics.units, 4);
  EXPECT_EQ(loads.nics.busiest_bytes, 100);
  EXPECT_EQ(loads.levels[0].busiest_bytes, 0);
}

// Nodes of 2 under leaves of 4 under a spine of 8: a ring crosses every node, every second one also
// its leaf.
TEST(LinkLoads, CountsOuterLevelsForWhatCrossesThem) {
  Cluster cluster = cluster_of(4, 2);
  cluster.levels = {{"nvlink", 2, 1e9, 0}, {"leaf", 4, 1e9, 0}, {"spine", 8, 1e9, 0}};
  cluster.nic_of_device.clear();
  const LinkLoads loads = loads_of(plan_of({.data = 8}), gather(800), cluster);
  EXPECT_EQ(loads.levels[1].units, 4);
  EXPECT_EQ(loads.levels[1].mean_bytes, 700);
  EXPECT_EQ(loads.levels[2].units, 2);
  EXPECT_EQ(loads.levels[2].mean_bytes, 700);
  EXPECT_EQ(loads.nics.units, 0);
}

}  // namespace
}  // namespace stepwright
