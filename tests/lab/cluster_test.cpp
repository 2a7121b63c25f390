#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/lab/spec.h"

namespace stepwright::lab {
namespace {

EmulatedClusterSpec lab(std::int64_t ranks, NicOwner owner) {
  return {.name = "mine",
          .nodes = 4,
          .ranks_per_node = ranks,
          .nic = rate_limited_link(50e6),
          .nic_of = owner,
          .inside = rate_limited_link(200e6),
          .device = cluster::built_in_device("a40")};
}

TEST(LabCluster, HasTheNominalRates) {
  const cluster::Cluster cluster = emulated_cluster_for_prediction(lab(4, NicOwner::kNode));
  EXPECT_EQ(cluster.name, "mine");
  EXPECT_EQ(cluster.devices(), 16);
  EXPECT_EQ(cluster.device.name, "a40");
  ASSERT_EQ(cluster.levels.size(), 2);
  EXPECT_EQ(cluster.levels[0].uplink_bytes_per_s, 200e6 / 4);
  EXPECT_TRUE(cluster.levels[1].network);
  EXPECT_EQ(cluster.levels[1].uplink_bytes_per_s, 50e6);
}

TEST(LabCluster, HasARailForEachRank) {
  const cluster::Cluster cluster = emulated_cluster_for_prediction(lab(4, NicOwner::kRank));
  EXPECT_EQ(cluster.nics_per_node, 4);
  EXPECT_EQ(cluster.nic_of_device, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(cluster.levels[1].uplink_bytes_per_s, 4 * 50e6);
}

TEST(LabCluster, OfLoneRanksHasOnlyANetwork) {
  EXPECT_EQ(emulated_cluster_for_prediction(lab(1, NicOwner::kNode)).levels.size(), 1);
}

TEST(LabCluster, IsReadBackFromItsProfile) {
  const EmulatedClusterSpec spec = lab(2, NicOwner::kRank);
  const YamlJsonDocument document =
      YamlJsonDocument::parse(emulated_cluster_profile(spec).dump(), "lab.json");
  EXPECT_EQ(document.root().get("stepwright").text(), "cluster/1");
  nlohmann::ordered_json mapping = emulated_cluster_profile(spec);
  mapping.erase("stepwright");
  const YamlJsonDocument inside = YamlJsonDocument::parse(mapping.dump(), "lab.json");
  EXPECT_EQ(cluster::read_job_cluster(inside.root(), {}), emulated_cluster_for_prediction(spec));
}

}  // namespace
}  // namespace stepwright::lab
