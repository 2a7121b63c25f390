#include "stepwright/cluster/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/cluster/layout.h"
#include "stepwright/core/error.h"

namespace stepwright::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;

Cluster round_trip(const Cluster& cluster) {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(inline_cluster_mapping(cluster).dump(), "inline");
  return read_job_cluster(document.root(), {});
}

TEST(Catalog, ListsNamesInOrder) {
  EXPECT_TRUE(std::ranges::is_sorted(built_in_cluster_names()));
  EXPECT_TRUE(std::ranges::is_sorted(built_in_device_names()));
  EXPECT_THAT(built_in_cluster_names(), Contains("dgx-h100"));
  EXPECT_THAT(built_in_device_names(), Contains("h100-sxm-80g"));
}

TEST(Catalog, NamesEveryProfileAsItsFile) {
  for (const std::string_view name : built_in_cluster_names()) {
    EXPECT_EQ(built_in_cluster(name, 1)->name, name);
  }
}

TEST(Catalog, NamesEveryDeviceAsItsFile) {
  for (const std::string_view name : built_in_device_names()) {
    const YamlJsonDocument document = YamlJsonDocument::parse(
        "name: x\nnodes: 1\ndevices_per_node: 1\ndevice: " + std::string(name), "x.yaml");
    EXPECT_EQ(read_job_cluster(document.root(), {}).device.name, name);
  }
}

TEST(Catalog, GivesASourceForEveryNumber) {
  for (const std::string_view name : built_in_cluster_names()) {
    const auto sources = cluster_number_sources(name);
    EXPECT_TRUE(sources.contains("device.memory")) << name;
    EXPECT_TRUE(sources.contains("levels.0.bandwidth") ||
                built_in_cluster(name, 1)->devices_per_node == 1)
        << name;
    EXPECT_TRUE(sources.contains("network.0.latency")) << name;
    for (const auto& [field, source] : sources.items()) {
      EXPECT_NE(source, "") << name << ": " << field;
    }
  }
}

TEST(Catalog, KeepsEveryProfileThroughItsInlineMapping) {
  for (const std::string_view name : built_in_cluster_names()) {
    for (const std::int64_t nodes : {1, 2, 3, 64, 1000}) {
      const Cluster cluster = *built_in_cluster(name, nodes);
      EXPECT_EQ(round_trip(cluster), cluster) << name << ", " << nodes << " nodes";
    }
  }
}

TEST(Catalog, HoldsPlausibleRates) {
  for (const std::string_view name : built_in_cluster_names()) {
    const Cluster cluster = *built_in_cluster(name, 2);
    const auto& peaks = cluster.device.peak_flops;
    ASSERT_TRUE(peaks.contains(DType::kFp16)) << name;
    const std::string& device = cluster.device.name;
    const bool before_ampere = device.starts_with("v100") || device == "t4";
    EXPECT_EQ(peaks.contains(DType::kBf16), !before_ampere) << name;
    if (peaks.contains(DType::kFp8)) {
      EXPECT_NEAR(peaks.at(DType::kFp8) / peaks.at(DType::kBf16), 2, 0.01) << name;
    }
    EXPECT_GT(cluster.device.memory_bytes, 15e9) << name;
    EXPECT_LT(cluster.device.memory_bytes, 320e9) << name;
    // Nothing inside a node is slower than the way out of it.
    const double share = cluster.nic_bytes_per_s * static_cast<double>(cluster.nics_per_node) /
                         static_cast<double>(cluster.devices_per_node);
    for (const NetworkLevel& level : cluster.levels) {
      if (level.network) continue;
      EXPECT_GT(level.uplink_bytes_per_s, share) << name << ": " << level.name;
    }
  }
}

TEST(Catalog, DescribesADgxH100) {
  const Cluster cluster = *built_in_cluster("dgx-h100", 4);
  EXPECT_EQ(cluster.devices(), 32);
  EXPECT_EQ(cluster.device.name, "h100-sxm-80g");
  EXPECT_EQ(cluster.device.peak_flops.at(DType::kBf16), 989.4e12);
  EXPECT_EQ(cluster.nic_of_device, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  ASSERT_EQ(cluster.levels.size(), 2U);
  EXPECT_EQ(cluster.levels[0], (NetworkLevel{.name = "nvlink",
                                             .size = 8,
                                             .uplink_bytes_per_s = 450e9,
                                             .latency_s = 2.5e-6,
                                             .links = LinkTechnology::kNvlink}));
  EXPECT_EQ(cluster.levels[1], (NetworkLevel{.name = "network",
                                             .size = 32,
                                             .uplink_bytes_per_s = 400e9,
                                             .latency_s = 5e-6,
                                             .network = true}));
}

TEST(Catalog, SharesFewNicsAmongBlocksOfDevices) {
  EXPECT_THAT(built_in_cluster("jean-zay-a100", 2)->nic_of_device,
              ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(built_in_cluster("a40-8gpu-pcie", 2)->nic_of_device,
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(built_in_cluster("a40-8gpu-pcie", 2)->levels[2].uplink_bytes_per_s, 12.5e9);
}

TEST(Catalog, MakesARackOneNode) {
  const Cluster cluster = *built_in_cluster("gb200-nvl72", 2);
  EXPECT_EQ(cluster.devices(), 144);
  EXPECT_EQ(network_layout_of_strided_group(cluster, 72, 1).span, 0);
  EXPECT_EQ(network_layout_of_strided_group(cluster, 64, 1).span, 1);  // 64-127 straddles the racks
}

TEST(Catalog, AppliesOversubscriptionAboveAPod) {
  const Cluster cluster = *built_in_cluster("meta-llama3-h100", 2048);
  ASSERT_EQ(cluster.levels.size(), 3U);
  EXPECT_EQ(cluster.levels[1].size, 3072);
  EXPECT_EQ(cluster.levels[1].uplink_bytes_per_s, 400e9);
  EXPECT_EQ(cluster.levels[2].size, 16384);
  EXPECT_EQ(cluster.levels[2].uplink_bytes_per_s, 384 * 400e9 / 7);
}

TEST(Catalog, HasOneDeviceAndAMillion) {
  EXPECT_EQ(built_in_cluster("vista-gh200", 1)->devices(), 1);
  EXPECT_EQ(built_in_cluster("dgx-h100", 125000)->devices(), 1000000);
}

TEST(Catalog, KnowsWhatItDoesNotHave) {
  EXPECT_EQ(built_in_cluster("dgx-h1000", 1), std::nullopt);
  EXPECT_THROW(cluster_number_sources("dgx-h1000"), Error);
  EXPECT_THROW(built_in_cluster("dgx-h100", 0), Error);
  EXPECT_THROW(built_in_cluster("dgx-h100", std::int64_t{1} << 62), Error);
}

TEST(Catalog, ListsProfilesForPrograms) {
  const auto list = built_in_clusters_json();
  ASSERT_EQ(list.size(), built_in_cluster_names().size());
  const auto found = std::ranges::find_if(
      list, [](const auto& entry) { return entry["name"] == "meta-llama3-h100"; });
  ASSERT_NE(found, list.end());
  EXPECT_EQ((*found)["device"], "h100-sxm-80g");
  EXPECT_EQ((*found)["nics_per_node"], 8);
  EXPECT_EQ((*found)["peak_flops"]["fp8"], 1978.9e12);
  EXPECT_EQ((*found)["levels"][1]["size"], 3072);
  EXPECT_TRUE((*found)["levels"][2]["size"].is_null());
  EXPECT_TRUE((*found)["sources"]["network.1.oversubscription"].is_string());
}

}  // namespace
}  // namespace stepwright::cluster
