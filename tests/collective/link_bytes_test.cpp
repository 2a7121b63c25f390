#include "stepwright/collective/link_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stepwright/collective/generate.h"
#include "stepwright/core/error.h"
#include "tests/collective/schedule_bytes.h"

namespace stepwright::collective {
namespace {

constexpr double kDivisible = 5040.0 * 64;

/// Returns a cluster of `nodes` nodes with `members` devices behind a switch; equal blocks of
/// devices share a NIC.
cluster::Cluster nodes_of_devices(std::int32_t members, std::int32_t nodes, std::int32_t nics) {
  cluster::Cluster cluster;
  cluster.nodes = nodes;
  cluster.devices_per_node = members;
  cluster.nics_per_node = nics;
  for (std::int32_t i = 0; i < members; ++i) cluster.nic_of_device.push_back(i * nics / members);
  cluster.levels = {{.name = "inside", .size = members},
                    {.name = "network", .size = std::int64_t{members} * nodes, .network = true}};
  return cluster;
}

/// Returns a cluster of four levels: pairs of devices, nodes of eight, leaves of two nodes, four
/// nodes in total.
cluster::Cluster four_levels() {
  cluster::Cluster cluster;
  cluster.nodes = 4;
  cluster.devices_per_node = 8;
  cluster.nics_per_node = 8;
  cluster.nic_of_device = {0, 1, 2, 3, 4, 5, 6, 7};
  cluster.levels = {{.name = "pair", .size = 2},
                    {.name = "node", .size = 8},
                    {.name = "leaf", .size = 16, .network = true},
                    {.name = "spine", .size = 32, .network = true}};
  return cluster;
}

ScheduleBytes bytes_of(const CollectiveScheduleSpec& spec, const cluster::Cluster& cluster) {
  return schedule_bytes(generate_collective_schedule(spec), cluster, kDivisible);
}

/// Expects the least possible bytes: with n nodes, m ranks each and full buffer V, (n-1)/n V per
/// node and (m-1)/m V per rank inside; twice that for an all-reduce.
void expect_least(CollectiveAlgorithm method, std::int32_t m, std::int32_t n, std::int32_t nics) {
  const cluster::Cluster cluster = nodes_of_devices(m, n, nics);
  for (const CollectiveOperation collective :
       {CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter,
        CollectiveOperation::kAllReduce}) {
    const double passes = collective == CollectiveOperation::kAllReduce ? 2 : 1;
    const ScheduleBytes bytes = bytes_of({method, collective, {m, n}, 3}, cluster);
    EXPECT_NEAR(bytes.links.nics.busiest_bytes, passes * (n - 1) * kDivisible / (n * nics), 1e-6);
    EXPECT_NEAR(bytes.links.nics.mean_bytes, bytes.links.nics.busiest_bytes, 1e-6);
    EXPECT_NEAR(bytes.links.levels[0].busiest_bytes, passes * (m - 1) * kDivisible / m, 1e-6);
    const double sent = passes * (n * m - 1) * kDivisible / (n * m);
    EXPECT_NEAR(*std::max_element(bytes.sent.begin(), bytes.sent.end()), sent, 1e-6);
  }
}

TEST(LinkByteCounter, OfTwoLevelsAreTheLeastPossible) {
  for (const std::int32_t n : {1, 2, 3, 5, 8}) {
    for (const std::int32_t m : {1, 2, 3, 8}) {
      for (const std::int32_t nics : {1, m}) {
        expect_least(CollectiveAlgorithm::kHoRing, m, n, nics);
        expect_least(CollectiveAlgorithm::kTwoLevel, m, n, nics);
        if (n != 3 && n != 5) expect_least(CollectiveAlgorithm::kRailHalving, m, n, nics);
      }
    }
  }
}

/// The closed form `network_level_loads`, which cost and traffic use, equals the bytes of the
/// schedules.
TEST(LinkByteCounter, OfRingsAndGroupsAreThoseOfLevelLoads) {
  const cluster::Cluster cluster = four_levels();
  const cluster::GroupLayout layout = cluster::network_layout_of_strided_group(cluster, 32, 1);
  const auto compare = [&](CollectiveAlgorithm algorithm, CollectiveOperation collective) {
    const ScheduleBytes bytes =
        bytes_of({algorithm, collective, {8, 4}, 2, IntraGroupPattern::kRing}, cluster);
    const LevelLoads loads = network_level_loads(collective, algorithm, kDivisible, layout, 2);
    for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
      EXPECT_NEAR(bytes.links.levels[i].busiest_bytes, loads[i].bytes, 1e-6)
          << name_of(kCollectiveAlgorithmNames, algorithm) << " level " << cluster.levels[i].name;
    }
  };
  for (const CollectiveOperation collective :
       {CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter,
        CollectiveOperation::kAllReduce}) {
    compare(CollectiveAlgorithm::kRing, collective);
    compare(CollectiveAlgorithm::kTwoLevel, collective);
    compare(CollectiveAlgorithm::kHoRing, collective);
  }
}

TEST(LinkByteCounter, OfAnExchangeAreThoseOfLevelLoads) {
  const cluster::Cluster cluster = nodes_of_devices(8, 4, 8);
  const LevelLoads loads =
      network_level_loads(CollectiveOperation::kAllToAll, CollectiveAlgorithm::kRing, kDivisible,
                          cluster::network_layout_of_strided_group(cluster, 32, 1), 1);
  const ScheduleBytes direct =
      bytes_of({CollectiveAlgorithm::kDirect, CollectiveOperation::kAllToAll, {8, 4}}, cluster);
  EXPECT_NEAR(direct.links.levels[0].busiest_bytes, loads[0].bytes - 24 * kDivisible / 32, 1e-6);
  EXPECT_NEAR(direct.links.levels[1].busiest_bytes, loads[1].bytes, 1e-6);
  const ScheduleBytes relay =
      bytes_of({CollectiveAlgorithm::kRelay, CollectiveOperation::kAllToAll, {8, 4}}, cluster);
  EXPECT_NEAR(relay.links.levels[1].busiest_bytes, loads[1].bytes, 1e-6);
  EXPECT_NEAR(relay.links.levels[0].busiest_bytes, 7.0 / 8 * kDivisible, 1e-6);
}

/// Between nodes, a flat ring and other flat schedules send more; trees enter each node once.
TEST(LinkByteCounter, OfFlatSchedulesAreAsDocumented) {
  const cluster::Cluster cluster = nodes_of_devices(4, 4, 1);
  const auto nic = [&](CollectiveAlgorithm method, CollectiveOperation collective) {
    return bytes_of({method, collective, {4, 4}}, cluster).links.nics.busiest_bytes / kDivisible;
  };
  EXPECT_NEAR(nic(CollectiveAlgorithm::kRing, CollectiveOperation::kAllGather), 15.0 / 16, 1e-12);
  EXPECT_NEAR(nic(CollectiveAlgorithm::kDirect, CollectiveOperation::kAllGather), 4 * 12.0 / 16,
              1e-12);
  EXPECT_NEAR(nic(CollectiveAlgorithm::kHalvingDoubling, CollectiveOperation::kReduceScatter),
              4 * 12.0 / 16, 1e-12);
  EXPECT_NEAR(nic(CollectiveAlgorithm::kHalvingDoubling, CollectiveOperation::kAllReduce),
              8 * 12.0 / 16, 1e-12);
  EXPECT_NEAR(nic(CollectiveAlgorithm::kTree, CollectiveOperation::kBroadcast), 2,
              1e-12);  // The root's.
  EXPECT_NEAR(nic(CollectiveAlgorithm::kTree, CollectiveOperation::kReduce), 1, 1e-12);
}

/// Each of m rings leaves a node through a different NIC.
TEST(LinkByteCounter, OfRingsAreSpreadOverTheNics) {
  const cluster::Cluster cluster = nodes_of_devices(4, 4, 4);
  const ScheduleBytes bytes =
      bytes_of({CollectiveAlgorithm::kRings, CollectiveOperation::kAllReduce, {4, 4}, 2}, cluster);
  EXPECT_NEAR(bytes.links.nics.busiest_bytes, 2 * 15.0 / 64 * kDivisible, 1e-6);
  EXPECT_NEAR(bytes.links.nics.mean_bytes, bytes.links.nics.busiest_bytes, 1e-6);
  EXPECT_NEAR(bytes.links.levels[0].busiest_bytes, 2 * 3.0 / 4 * 15.0 / 16 * kDivisible, 1e-6);
}

/// Tiers {2, 4, 3} send (2-1) 4 3, (4-1) 3 and (3-1) blocks of 24.
TEST(LinkByteCounter, OfThreeTiersFallWithEachTier) {
  cluster::Cluster cluster = four_levels();
  cluster.nodes = 3;
  cluster.levels = {{.name = "pair", .size = 2},
                    {.name = "node", .size = 8},
                    {.name = "network", .size = 24, .network = true}};
  const ScheduleBytes bytes =
      bytes_of({CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllGather, {2, 4, 3}}, cluster);
  EXPECT_NEAR(bytes.links.nics.busiest_bytes, 2 * kDivisible / 24, 1e-6);
  EXPECT_NEAR(bytes.links.levels[1].busiest_bytes, 2 * 9 * kDivisible / 24, 1e-6);  // Of a pair.
  EXPECT_NEAR(bytes.links.levels[0].busiest_bytes, (12 + 9) * kDivisible / 24, 1e-6);
}

TEST(LinkByteCounter, RefuseAClusterThatIsTooSmall) {
  const CollectiveSchedule schedule = generate_collective_schedule(
      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllGather, {9}});
  EXPECT_THROW(schedule_bytes(schedule, nodes_of_devices(4, 2, 1), kDivisible), Error);
}

}  // namespace
}  // namespace stepwright::collective
