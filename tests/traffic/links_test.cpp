#include "stepwright/traffic/links.h"

#include <gtest/gtest.h>

#include "stepwright/collective/generate.h"
#include "stepwright/collective/ho_ring.h"
#include "tests/traffic/programs.h"

namespace stepwright {
namespace {

using testing::cluster_of;
using testing::message;
using testing::plan_of;
using testing::program_of;

LinkLoads loads_of(const Plan& plan, const Operator& op, const Cluster& cluster) {
  return link_loads({program_of(plan, {op}), Grid(plan), cluster, plan.data_algorithm}, cluster);
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
  plan.data_algorithm = Algorithm::kTwoLevel;
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
  plan.data_algorithm = Algorithm::kHoRing;
  const Cluster cluster = cluster_of(2, 4);
  const LinkLoads loads = loads_of(plan, gather(800), cluster);
  const CollectiveSchedule schedule =
      generate({Method::kHoRing, Collective::kAllGather, {4, 2}, 2, inner_for(cluster)});
  const LinkLoads scheduled = schedule_bytes(schedule, cluster, 800).links;
  for (std::size_t i = 0; i < scheduled.levels.size(); ++i) {
    EXPECT_NEAR(loads.levels[i].busiest_bytes, scheduled.levels[i].busiest_bytes, 1e-9);
    EXPECT_NEAR(loads.levels[i].mean_bytes, scheduled.levels[i].mean_bytes, 1e-9);
  }
  EXPECT_NEAR(loads.nics.busiest_bytes, scheduled.nics.busiest_bytes, 1e-9);
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
