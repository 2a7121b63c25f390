#include "stepwright/collective/in_network.h"

#include <gtest/gtest.h>

#include "switched_cluster.h"

namespace stepwright::collective {
namespace {

constexpr double kBuffer = 4e6;

/// Two nodes of two: half of the buffer takes 40 us inside, and 80 us on a NIC. A start of 1 ms
/// allows only one chunk. Latencies: 2, 6 and 2 us.
TEST(InNetwork, IsWhatAHandCounts) {
  GroupLinkRates links = process_group_link_rates(switched(2, 2, 2, 2), 2, 2);
  links.message_s = 1e-3;
  EXPECT_NEAR(in_network_all_reduce_seconds(cluster::InNetworkReductionSupport::kBetweenNodes,
                                            links, kBuffer),
              3e-3 + 40e-6 + 80e-6 + 40e-6 + 10e-6, 1e-12);
  EXPECT_NEAR(in_network_all_reduce_seconds(cluster::InNetworkReductionSupport::kEverywhere, links,
                                            kBuffer),
              3e-3 + 80e-6 + 80e-6 + 80e-6 + 10e-6, 1e-12);
}

/// With small chunks only the slower level counts: 80 us on the NIC; inside 80 us, or 3/2 of that
/// if the switch there adds for two.
TEST(InNetwork, ApproachesTheSlowerLevel) {
  GroupLinkRates links = process_group_link_rates(switched(2, 2, 2, 2), 2, 2);
  links.message_s = 0;
  EXPECT_NEAR(in_network_all_reduce_seconds(cluster::InNetworkReductionSupport::kBetweenNodes,
                                            links, kBuffer),
              90e-6, 1e-6);
  EXPECT_NEAR(in_network_all_reduce_seconds(cluster::InNetworkReductionSupport::kEverywhere, links,
                                            kBuffer),
              130e-6, 1e-6);
}

TEST(InNetwork, DoesNotGrowWithTheNodes) {
  for (const cluster::InNetworkReductionSupport where :
       {cluster::InNetworkReductionSupport::kBetweenNodes,
        cluster::InNetworkReductionSupport::kEverywhere}) {
    const double few = in_network_all_reduce_seconds(
        where, process_group_link_rates(switched(8, 2, 8, 9), 8, 2), 1e9);
    const double many = in_network_all_reduce_seconds(
        where, process_group_link_rates(switched(8, 2048, 8, 9), 8, 2048), 1e9);
    EXPECT_EQ(few, many);
  }
}

TEST(InNetwork, TakesNoTimeForOneRank) {
  const GroupLinkRates links = process_group_link_rates(switched(1, 1, 1, 9), 1, 1);
  EXPECT_EQ(
      in_network_all_reduce_seconds(cluster::InNetworkReductionSupport::kEverywhere, links, 1e9),
      0);
}

}  // namespace
}  // namespace stepwright::collective
