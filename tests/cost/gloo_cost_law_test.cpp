#include "stepwright/cost/laws/gloo_cost_law.h"

#include <gtest/gtest.h>

namespace stepwright::cost {
namespace {

TEST(GlooMessageLoads, OfARingInOneNodeAreAllOfItsEdges) {
  const GlooMessageLoads loads =
      socket_loads(collective::CollectiveOperation::kAllGather, 4000, {1, 4, 1});
  EXPECT_DOUBLE_EQ(loads.inside_bytes(), 4 * 3000);
  EXPECT_DOUBLE_EQ(loads.network_bytes(), 0);
  EXPECT_DOUBLE_EQ(loads.hops, 3);
}

TEST(GlooMessageLoads, OfSisterGroupsAddUp) {
  const GlooMessageLoads loads =
      socket_loads(collective::CollectiveOperation::kAllReduce, 4000, {4, 1, 4});
  EXPECT_DOUBLE_EQ(loads.network_bytes(), 4 * 2 * 3000);
  EXPECT_DOUBLE_EQ(loads.inside_bytes(), 0);
  EXPECT_DOUBLE_EQ(loads.hops, 6);
}

TEST(GlooMessageLoads, AReduceScatterGoesRoundTwice) {
  const GroupNodePlacement group{4, 4, 1};
  const GlooMessageLoads scatter =
      socket_loads(collective::CollectiveOperation::kReduceScatter, 16000, group);
  const GlooMessageLoads reduce =
      socket_loads(collective::CollectiveOperation::kAllReduce, 16000, group);
  EXPECT_DOUBLE_EQ(scatter.network_bytes(), reduce.network_bytes());
  EXPECT_DOUBLE_EQ(scatter.network_bytes(), 2 * 15000);
  EXPECT_DOUBLE_EQ(scatter.inside_bytes(), 3 * 2 * 15000);
}

TEST(GlooMessageLoads, OfAnExchangeCountEveryPair) {
  // Two nodes of two ranks: a rank sends a quarter to its neighbour and two to the other node.
  const GlooMessageLoads loads =
      socket_loads(collective::CollectiveOperation::kAllToAll, 4000, {2, 2, 1});
  EXPECT_DOUBLE_EQ(loads.inside_bytes(), 2 * 1000);
  EXPECT_DOUBLE_EQ(loads.network_bytes(), 2 * 2 * 1000);
}

TEST(GlooMessageLoads, OfTransfersAreWhatLeavesANode) {
  const GlooMessageLoads loads =
      socket_loads(collective::CollectiveOperation::kPointToPoint, 1000, {4, 1, 4});
  EXPECT_DOUBLE_EQ(loads.network_bytes(), 4 * 1000);
  EXPECT_DOUBLE_EQ(loads.hops, 1);
}

constexpr GlooCostLaw kLaw{.start_s = 1e-3,
                           .hop_s = 1e-4,
                           .network_hop_s = 2e-4,
                           .inside_s_per_byte = 1e-6,
                           .network_s_per_byte = 4e-6};

TEST(GlooCostLaw, TheSlowerOfBothLinksCounts) {
  const GlooMessageLoads inside{
      .steps = 3, .hops = 3, .block_bytes = 1000, .inside_messages = 12, .network_messages = 2};
  EXPECT_DOUBLE_EQ(kLaw.time(inside).seconds, 1e-3 + 3 * 12e-3);
  EXPECT_EQ(kLaw.time(inside).link, LinkClass::kInside);
  const GlooMessageLoads network{
      .steps = 3, .hops = 3, .block_bytes = 1000, .inside_messages = 7, .network_messages = 2};
  EXPECT_DOUBLE_EQ(kLaw.time(network).seconds, 1e-3 + 3 * 8e-3);
  EXPECT_EQ(kLaw.time(network).link, LinkClass::kNetwork);
}

TEST(GlooCostLaw, AMessageAloneHidesHalfOfEachHop) {
  const GlooMessageLoads large{.steps = 6, .hops = 6, .block_bytes = 100, .network_messages = 1};
  EXPECT_DOUBLE_EQ(kLaw.time(large).seconds, 1e-3 + 6 * (1e-4 + 4e-4));
  const GlooMessageLoads small{.steps = 6, .hops = 6, .block_bytes = 10, .network_messages = 1};
  EXPECT_DOUBLE_EQ(kLaw.time(small).seconds, 1e-3 + 6 * 2e-4);
  const GlooMessageLoads exchange{.steps = 1, .hops = 7, .block_bytes = 1, .inside_messages = 56};
  EXPECT_DOUBLE_EQ(kLaw.time(exchange).seconds, 1e-3 + 7 * 1e-4);
}

TEST(SocketGroups, FollowTheLayout) {
  cluster::Cluster cluster;
  cluster.nodes = 4;
  cluster.devices_per_node = 4;
  cluster.levels = {{.name = "bus", .size = 4, .uplink_bytes_per_s = 1},
                    {.name = "network", .size = 16, .uplink_bytes_per_s = 1, .network = true}};
  const GroupNodePlacement data =
      group_node_placement(cluster::network_layout_of_strided_group(cluster, 8, 2), 1, 4);
  EXPECT_EQ(data.nodes, 4);
  EXPECT_EQ(data.members, 2);
  EXPECT_EQ(data.groups, 2);
}

}  // namespace
}  // namespace stepwright::cost
