#include "stepwright/cluster/layout.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "stepwright/core/error.h"

namespace stepwright::cluster {
namespace {

Cluster cluster_of(std::int64_t devices, const std::vector<std::int64_t>& sizes) {
  Cluster cluster;
  cluster.nodes = devices;
  for (const std::int64_t size : sizes) cluster.levels.push_back({.name = "level", .size = size});
  return cluster;
}

/// Returns a cluster with nodes of eight devices, leaves of four nodes, and a spine over all.
Cluster leaf_and_spine(std::int64_t devices) { return cluster_of(devices, {8, 32, devices}); }

std::vector<std::int64_t> front(const std::array<std::int64_t, kMaxLevels>& values, int count) {
  return {values.begin(), values.begin() + count};
}

/// Computes a layout by listing every rank's group and every unit.
GroupLayout counted_layout(const Cluster& cluster, std::int64_t size, std::int64_t stride) {
  const std::int64_t block = size * stride;
  std::map<std::int64_t, std::vector<std::int64_t>> groups;
  for (std::int64_t rank = 0; rank < cluster.devices() / block * block; ++rank) {
    groups[rank / block * stride + rank % stride].push_back(rank);
  }
  GroupLayout layout{.size = size, .levels = static_cast<int>(cluster.levels.size())};
  std::int64_t lower = 1;
  for (int i = 0; i < layout.levels; ++i) {
    std::map<std::int64_t, std::int64_t> leaving;  // lower unit -> groups
    for (const auto& [id, ranks] : groups) {
      std::map<std::int64_t, std::int64_t> inside;
      std::set<std::int64_t> visited;
      for (const std::int64_t rank : ranks) {
        const std::int64_t members = ++inside[rank / cluster.levels[i].size];
        layout.members[i] = std::max(layout.members[i], members);
        visited.insert(rank / lower);
      }
      if (visited.size() < 2) continue;
      layout.span = i;
      for (const std::int64_t unit : visited) {
        layout.sharers[i] = std::max(layout.sharers[i], ++leaving[unit]);
      }
    }
    lower = cluster.levels[i].size;
  }
  return layout;
}

TEST(StridedLayout, KeepsATensorGroupInsideTheNode) {
  const GroupLayout layout = network_layout_of_strided_group(leaf_and_spine(64), 8, 1);
  EXPECT_EQ(layout.span, 0);
  EXPECT_EQ(front(layout.members, 3), (std::vector<std::int64_t>{8, 8, 8}));
  EXPECT_EQ(front(layout.sharers, 3), (std::vector<std::int64_t>{1, 0, 0}));
}

TEST(StridedLayout, SharesTheNodeAmongEightDataGroups) {
  const GroupLayout layout = network_layout_of_strided_group(leaf_and_spine(64), 4, 8);
  EXPECT_EQ(layout.span, 1);
  EXPECT_EQ(front(layout.members, 3), (std::vector<std::int64_t>{1, 4, 4}));
  EXPECT_EQ(front(layout.sharers, 3), (std::vector<std::int64_t>{1, 8, 0}));
}

TEST(StridedLayout, LeavesANodeOnceWithEightMembers) {
  const GroupLayout layout = network_layout_of_strided_group(leaf_and_spine(64), 16, 1);
  EXPECT_EQ(layout.span, 1);
  EXPECT_EQ(front(layout.members, 3), (std::vector<std::int64_t>{8, 16, 16}));
  EXPECT_EQ(front(layout.sharers, 3), (std::vector<std::int64_t>{1, 1, 0}));
}

TEST(StridedLayout, CountsGroupsThatPassThroughALeafOnTheirWay) {
  const GroupLayout layout = network_layout_of_strided_group(leaf_and_spine(64), 2, 32);
  EXPECT_EQ(layout.span, 2);
  EXPECT_EQ(front(layout.members, 3), (std::vector<std::int64_t>{1, 1, 2}));
  EXPECT_EQ(front(layout.sharers, 3), (std::vector<std::int64_t>{1, 8, 32}));
}

TEST(StridedLayout, TakesTheWorstNodeWhenGroupsStraddle) {
  // Groups of six: 0-5 | 6-11 | 12-17 | 18-23; the node 8-15 is left by two of them.
  const GroupLayout layout = network_layout_of_strided_group(cluster_of(24, {8, 24}), 6, 1);
  EXPECT_EQ(layout.span, 1);
  EXPECT_EQ(front(layout.members, 2), (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(front(layout.sharers, 2), (std::vector<std::int64_t>{1, 2}));
}

TEST(StridedLayout, GivesAGroupOfOneNothingToCross) {
  const GroupLayout layout = network_layout_of_strided_group(leaf_and_spine(64), 1, 999);
  EXPECT_EQ(layout.span, -1);
  EXPECT_EQ(front(layout.members, 3), (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(front(layout.sharers, 3), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(StridedLayout, LeavesLevelsBeyondASmallClusterIdle) {
  const GroupLayout layout = network_layout_of_strided_group(cluster_of(4, {8, 256, 256}), 4, 1);
  EXPECT_EQ(layout.span, 0);
  EXPECT_EQ(layout, counted_layout(cluster_of(4, {8, 256, 256}), 4, 1));
}

TEST(StridedLayout, HandlesAMillionDevices) {
  const GroupLayout layout =
      network_layout_of_strided_group(cluster_of(1 << 20, {8, 1 << 20}), 1 << 17, 8);
  EXPECT_EQ(layout.sharers[1], 8);
  EXPECT_EQ(layout.members[1], 1 << 17);
}

TEST(StridedLayout, RejectsWhatDoesNotFit) {
  const Cluster cluster = leaf_and_spine(64);
  const std::int64_t huge = std::int64_t{1} << 62;
  for (const auto& [size, stride] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 1}, {1, 0}, {-4, 1}, {2, 33}, {65, 1}, {huge, huge}, {huge, 1}, {2, huge}}) {
    EXPECT_THROW(network_layout_of_strided_group(cluster, size, stride), Error)
        << size << " x " << stride;
  }
}

/// Random nested units and random groups, whether they divide the cluster or not.
TEST(StridedLayout, EqualsACountOfEveryRank) {
  std::mt19937 random(1);
  const auto below = [&random](std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(1, end)(random);
  };
  for (int trial = 0; trial < 5000; ++trial) {
    std::vector<std::int64_t> sizes{below(12)};
    for (std::int64_t levels = below(3); levels > 1; --levels) {
      sizes.push_back(sizes.back() * below(6));
    }
    const bool even = below(2) == 1;
    const std::int64_t devices = even ? sizes.back() * below(6) : below(400);
    sizes.push_back(std::max(devices, sizes.back()));
    const Cluster cluster = cluster_of(devices, sizes);
    std::int64_t size = below(devices);
    if (even) {
      while (devices % size != 0) size = below(devices);
    }
    const std::int64_t stride = below(devices / size);
    ASSERT_EQ(network_layout_of_strided_group(cluster, size, stride),
              counted_layout(cluster, size, stride))
        << devices << " devices, first unit " << sizes[0] << ", group " << size << " x " << stride;
  }
}

/// Compares every way to cut blocks of this many ranks into strided groups with a count.
void expect_counted(const Cluster& cluster, std::int64_t block) {
  for (std::int64_t size = 1; size <= block; ++size) {
    if (block % size != 0) continue;
    ASSERT_EQ(network_layout_of_strided_group(cluster, size, block / size),
              counted_layout(cluster, size, block / size))
        << cluster.devices() << " devices, group " << size << " in " << block;
  }
}

/// The case of real plans: all sizes divide the number of devices.
TEST(StridedLayout, EqualsACountWhereGroupsPartitionTheCluster) {
  for (const std::int64_t node : {1, 4, 6, 8, 18, 72}) {
    for (const std::int64_t nodes : {1, 2, 8, 9}) {
      const Cluster cluster = cluster_of(nodes * node, {node, nodes * node});
      for (std::int64_t block = 1; block <= cluster.devices(); ++block) {
        if (cluster.devices() % block == 0) expect_counted(cluster, block);
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::cluster
