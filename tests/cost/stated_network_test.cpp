#include "stepwright/cost/stated_network.h"

#include <gtest/gtest.h>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cost/collective_cost.h"
#include "stepwright/cost/profiles/collective_profiles.h"

namespace stepwright::cost {
namespace {

cluster::Cluster stated(std::string_view profile, std::int64_t nodes, double bytes_per_s) {
  cluster::Cluster cluster = cluster::load_cluster(profile, nodes);
  cluster.all_reduce_bytes_per_s = bytes_per_s;
  return cluster;
}

/// Returns the bus bandwidth of a large all-reduce over so many consecutive ranks.
double bus(const cluster::Cluster& cluster, std::int64_t ranks) {
  const MessageCostModel cost(cluster);
  const double time_s =
      cost.priced_message_time({collective::CollectiveOperation::kAllReduce,
                                kStatedBandwidthBufferBytes,
                                cluster::network_layout_of_strided_group(cluster, ranks, 1),
                                collective::CollectiveAlgorithm::kLibrary})
          .seconds;
  return collective::bytes_sent_by_each_rank(collective::CollectiveOperation::kAllReduce,
                                             kStatedBandwidthBufferBytes, ranks) /
         time_s;
}

TEST(StatedNetwork, AnAllReduceOfAllDevicesAttainsWhatIsStated) {
  for (const std::string_view profile : {"aws-p5-h100", "dgx-h100", "azure-ndv4-a100"}) {
    for (const std::int64_t nodes : {2, 4, 16, 64}) {
      for (const double stated_bus : {10e9, 40e9}) {
        const cluster::Cluster cluster = stated(profile, nodes, stated_bus);
        EXPECT_NEAR(bus(cluster, cluster.devices()) / stated_bus, 1, 1e-6)
            << profile << ' ' << nodes;
      }
    }
  }
}

// A network that is as good as the profile's, one node, and a cluster that states nothing.
TEST(StatedNetwork, NothingIsMadeFasterThanWithoutACrowd) {
  const cluster::Cluster plain = cluster::load_cluster("dgx-h100", 8);
  EXPECT_EQ(bus(stated("dgx-h100", 8, 1e15), 64), bus(plain, 64));
  const cluster::Cluster alone = cluster::load_cluster("dgx-h100", 1);
  EXPECT_EQ(bus(stated("dgx-h100", 1, 1e9), 8), bus(alone, 8));
  EXPECT_EQ(
      fit_congestion_to_stated_bandwidth(plain, collective_constants_of_cluster(plain)).operations,
      collective_constants_of_cluster(plain).operations);
}

// An eighth of the uncrowded rate over 128 ranks, eight times kUncrowdedRanks: a power of one, so
// that 32 ranks attain half of it and 16 all.
TEST(StatedNetwork, SmallerGroupsMeetLessOfACrowd) {
  const cluster::Cluster plain = cluster::load_cluster("dgx-h100", 16);
  const double full = bus(plain, 128);
  const cluster::Cluster crowded = stated("dgx-h100", 16, full / 8);
  const double congestion =
      fit_congestion_to_stated_bandwidth(crowded, collective_constants_of_cluster(crowded))
          .of(collective::CollectiveOperation::kAllGather)
          .congestion;
  EXPECT_NEAR(congestion, 1, 0.05);
  EXPECT_NEAR(bus(crowded, 32) / bus(plain, 32), 0.5, 0.05);
  EXPECT_NEAR(bus(crowded, 16) / bus(plain, 16), 1, 1e-9);
}

}  // namespace
}  // namespace stepwright::cost
