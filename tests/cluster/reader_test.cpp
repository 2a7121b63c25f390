#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/generation.h"
#include "stepwright/core/error.h"
#include "tests/cluster/example.h"
#include "tests/folder.h"

namespace stepwright::cluster {
namespace {

using testing::ElementsAre;

Cluster read(std::string_view text, const std::filesystem::path& directory = {}) {
  const YamlJsonDocument document = YamlJsonDocument::parse(text, "job.yaml");
  return read_job_cluster(document.root(), directory);
}

Cluster what_if(const Cluster& cluster, std::string_view path, std::string_view value) {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(inline_cluster_mapping(cluster).dump(), "inline")
          .copy_with_replaced_scalar(path, value);
  return read_job_cluster(document.root(), {});
}

class Files : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
  }

  Folder folder_;
};

TEST(ReadCluster, ReadsAWholeClusterInline) {
  const Cluster cluster = read(kInline);
  EXPECT_EQ(cluster.name, "two-boxes");
  EXPECT_EQ(cluster.device.peak_flops.at(DType::kBf16), 900e12);
  EXPECT_EQ(cluster.devices(), 24);
  EXPECT_THAT(cluster.nic_of_device, ElementsAre(0, 0, 1, 1));
  ASSERT_EQ(cluster.levels.size(), 4U);
  EXPECT_EQ(cluster.levels[1].latency_s, 2.5e-6);
  // Six nodes on leaves of four: the second leaf is half full.
  EXPECT_EQ(cluster.levels[2].size, 16);
  EXPECT_EQ(cluster.levels[2].uplink_bytes_per_s, 2 * 25e9 / 2);
  EXPECT_EQ(cluster.levels[3].size, 24);
  EXPECT_EQ(cluster.levels[3].uplink_bytes_per_s, 4 * 2 * 25e9 / 6);
  EXPECT_EQ(cluster.levels[3].latency_s, 9e-6);
  EXPECT_EQ(cluster.all_reduce_bytes_per_s, 12e9);
}

TEST(ReadCluster, ReadsBackWhatIsWrittenInline) {
  const Cluster cluster = read(kInline);
  const YamlJsonDocument document =
      YamlJsonDocument::parse(inline_cluster_mapping(cluster).dump(), "inline");
  EXPECT_EQ(read_job_cluster(document.root(), {}), cluster);
}

TEST(ReadCluster, ReadsAWordAsAProfileWithItsNodes) {
  const auto read = [](const std::string& word) {
    const YamlJsonDocument document = YamlJsonDocument::parse("cluster: " + word, "job.yaml");
    return read_job_cluster(document.root().get("cluster"), {});
  };
  EXPECT_EQ(read("dgx-h100").name, "dgx-h100");
  EXPECT_EQ(read("dgx-h100").nodes, 1);
  EXPECT_EQ(read("dgx-h100:16").nodes, 16);
  EXPECT_EQ(read("h200:2").name, "dgx-h200");
  for (const char* wrong : {"dgx-h100:0", "dgx-h100:x", "dgx-h100:99999999999999"}) {
    EXPECT_THAT([&] { read(wrong); }, testing::ThrowsMessage<Error>(
                                          testing::HasSubstr("job.yaml:1:10: cluster: must be")));
  }
}

TEST(ReadCluster, TakesTheNameOfADeviceForAProfileOfIt) {
  const auto read = [](const std::string& word) {
    const YamlJsonDocument document = YamlJsonDocument::parse("cluster: " + word, "job.yaml");
    return read_job_cluster(document.root().get("cluster"), {});
  };
  for (const auto& [word, profile] : {std::pair{"a10g", "aws-g5-a10g"},
                                      {"A10G:2", "aws-g5-a10g"},
                                      {"RTX 3090", "rtx3090-8gpu-pcie"},
                                      {"NVIDIA GeForce RTX 4090", "rtx4090-8gpu-pcie"},
                                      {"3090", "rtx3090-8gpu-pcie"},
                                      {"a100-80g", "dgx-a100-80g"},
                                      {"a100-sxm-40g", "dgx-a100-40g"},
                                      {"H800", "h800-8gpu"},
                                      {"mi300x:4", "mi300x-8gpu"},
                                      {"h100-nvl", "h100-nvl-8gpu"},
                                      {"t4", "aws-g4dn-t4"}}) {
    EXPECT_EQ(read(word).name, profile) << word;
  }
  EXPECT_THAT([&] { read("a100"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "'a100' may be dgx-a100-40g (a100-sxm-40g) or dgx-a100-80g (a100-sxm-80g)")));
  for (const char* none : {"rtx", "nvidia", "a1", "80g", "x100"}) {
    EXPECT_THAT([&] { read(none); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("unknown profile")));
  }
}

TEST(ReadCluster, LetsAMappingOverrideItsProfile) {
  const Cluster cluster = read(R"(profile: dgx-a100-80g
nodes: 4
nics_per_node: 1
device: {memory: 60e9, peak: {bf16: 200e12}}
network:
  - {name: leaf, nodes: 2}
  - {name: spine, oversubscription: 3}
fit: mine
)");
  Cluster expected = *built_in_cluster("dgx-a100-80g", 4);
  EXPECT_EQ(cluster.levels[0], expected.levels[0]);
  EXPECT_EQ(cluster.levels[1].uplink_bytes_per_s, 25e9);
  EXPECT_EQ(cluster.levels[2].uplink_bytes_per_s, 2 * 25e9 / 3);
  EXPECT_THAT(cluster.nic_of_device, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(cluster.device.memory_bytes, 60e9);
  EXPECT_EQ(cluster.device.peak_flops.at(DType::kBf16), 200e12);
  EXPECT_EQ(cluster.device.peak_flops.at(DType::kFp16), 312e12);
  EXPECT_EQ(cluster.fit, "mine");
}

TEST(ReadCluster, SwapsTheDeviceOfAProfile) {
  const Cluster cluster = read("profile: dgx-h100\nnodes: 1\ndevice: h200-sxm\n");
  EXPECT_EQ(cluster.device, built_in_cluster("dgx-h200", 1)->device);
}

TEST(ReadCluster, ADeviceOfOtherPeaksStatesItsGenerationAnew) {
  const std::string profile = "profile: dgx-h100\nnodes: 1\n";
  EXPECT_EQ(read(profile).device.generation, &find_device_generation("H100"));
  EXPECT_EQ(read(profile + "device: {memory: 90e9}\n").device.generation,
            &find_device_generation("H100"));
  EXPECT_EQ(read(profile + "device: {peak: {bf16: 312e12}}\n").device.generation, nullptr);
  EXPECT_EQ(
      read(profile + "device: {peak: {bf16: 1e12}, generation: Blackwell}\n").device.generation,
      &find_device_generation("B200"));
}

TEST(ReadCluster, ALevelCalledNvlinkHasNvlinksUnlessItSaysOtherwise) {
  const auto links = [](const std::string& level) {
    const Cluster cluster =
        read("profile: dgx-h100\nnodes: 1\nlevels: [{" + level + ", size: 8, bandwidth: 1e9}]\n");
    EXPECT_EQ(read(inline_cluster_mapping(cluster).dump()), cluster);
    return cluster.levels.front().links;
  };
  EXPECT_EQ(links("name: nvlink"), LinkTechnology::kNvlink);
  EXPECT_EQ(links("name: pcie"), LinkTechnology::kOther);
  EXPECT_EQ(links("name: nvlink, links: other"), LinkTechnology::kOther);
  EXPECT_EQ(links("name: scale-up, links: nvlink"), LinkTechnology::kNvlink);
}

TEST(ReadCluster, CountsDevicesInsteadOfNodes) {
  EXPECT_EQ(read("profile: dgx-h100\ndevices: 32"), *built_in_cluster("dgx-h100", 4));
  EXPECT_EQ(read("profile: gb200-nvl72\ndevices: 72"), *built_in_cluster("gb200-nvl72", 1));
}

TEST(ReadCluster, AMeshLosesTheLinksToDevicesThatAreCut) {
  const Cluster whole = read("profile: perlmutter-a100\nnodes: 1");
  EXPECT_TRUE(whole.levels[0].mesh);
  EXPECT_EQ(whole.levels[0].uplink_bytes_per_s, 300e9);
  const Cluster pair = read("profile: perlmutter-a100\ndevices: 2");
  EXPECT_EQ(pair.levels[0].size, 2);
  EXPECT_DOUBLE_EQ(pair.levels[0].uplink_bytes_per_s, 100e9);
  const YamlJsonDocument document =
      YamlJsonDocument::parse(inline_cluster_mapping(pair).dump(), "inline");
  EXPECT_EQ(read_job_cluster(document.root(), {}), pair);
}

TEST(ReadCluster, CutsANodeToFewerDevices) {
  const Cluster four = read("profile: dgx-h100\ndevices: 4");
  EXPECT_EQ(four.nodes, 1);
  EXPECT_EQ(four.devices(), 4);
  EXPECT_EQ(four.nics_per_node, 4);
  EXPECT_EQ(four.levels[0].size, 4);
  const Cluster three = read("profile: a40-8gpu-pcie\ndevices: 3");
  EXPECT_EQ(three.levels[0].size, 2);
  EXPECT_EQ(three.levels[1].size, 3);
  const Cluster one = read("profile: a40-8gpu-pcie\ndevices: 1");
  EXPECT_EQ(one.devices(), 1);
  EXPECT_EQ(one.levels.size(), 1U);
  for (const Cluster& cluster : {four, three, one}) {
    const YamlJsonDocument document =
        YamlJsonDocument::parse(inline_cluster_mapping(cluster).dump(), "inline");
    EXPECT_EQ(read_job_cluster(document.root(), {}), cluster);
  }
}

TEST(ReadCluster, NeedsNoNetworkForOneNode) {
  const Cluster cluster = read("name: desk\ndevice: a40\nnodes: 1\ndevices_per_node: 1");
  EXPECT_EQ(cluster.nic_bytes_per_s, 0);
  EXPECT_TRUE(cluster.levels.empty());
  const YamlJsonDocument document =
      YamlJsonDocument::parse(inline_cluster_mapping(cluster).dump(), "inline");
  EXPECT_EQ(read_job_cluster(document.root(), {}), cluster);
}

TEST(WhatIf, DoublesAllThatDerivesFromANic) {
  const Cluster before = *built_in_cluster("meta-llama3-h100", 1000);
  const Cluster after = what_if(before, "nic", "2x");
  EXPECT_EQ(after.levels[0], before.levels[0]);
  EXPECT_EQ(after.levels[1].uplink_bytes_per_s, 2 * before.levels[1].uplink_bytes_per_s);
  EXPECT_EQ(after.levels[2].uplink_bytes_per_s, 2 * before.levels[2].uplink_bytes_per_s);
}

TEST(WhatIf, SpreadsDevicesOverTwiceTheNics) {
  const Cluster after = what_if(*built_in_cluster("jean-zay-a100", 4), "nics_per_node", "2x");
  EXPECT_THAT(after.nic_of_device, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(after.levels[1].uplink_bytes_per_s, 8 * 12.5e9);
}

TEST(WhatIf, GrowsBeyondAPod) {
  const Cluster small = *built_in_cluster("meta-llama3-h100", 2);
  EXPECT_EQ(what_if(small, "nodes", "1024x"), *built_in_cluster("meta-llama3-h100", 2048));
}

TEST(WhatIf, ChangesOneNumberOfADevice) {
  const Cluster after = what_if(*built_in_cluster("dgx-h100", 2), "device.peak.bf16", "0.5x");
  EXPECT_EQ(after.device.peak_flops.at(DType::kBf16), 494.7e12);
}

TEST_F(Files, ReadsAProfileBesideTheJob) {
  write("mine.yaml", "stepwright: cluster/1\n" + std::string(kInline));
  Cluster expected = read(kInline);
  EXPECT_EQ(read("profile: mine.yaml", folder_.path()), expected);
  EXPECT_EQ(read("profile: mine.yaml\nnodes: 1", folder_.path()).nodes, 1);
  EXPECT_EQ(read("profile: ./mine.yaml\ndevices: 8", folder_.path()).nodes, 2);
}

TEST_F(Files, ReadsAProfileThatBuildsOnAnother) {
  write("slow.yaml", "stepwright: cluster/1\nname: slow\nprofile: dgx-h100\nnic: 1e9\n");
  const Cluster cluster = read("profile: slow.yaml\nnodes: 2", folder_.path());
  EXPECT_EQ(cluster.name, "slow");
  EXPECT_EQ(cluster.levels[1].uplink_bytes_per_s, 8e9);
}

TEST_F(Files, RejectsProfilesInACircle) {
  write("a.yaml", "stepwright: cluster/1\nprofile: b.yaml\n");
  write("b.yaml", "stepwright: cluster/1\nprofile: a.yaml\n");
  EXPECT_THROW(read("profile: a.yaml\nnodes: 1", folder_.path()), Error);
}

TEST_F(Files, RejectsOtherKindsOfFiles) {
  write("job.yaml", "stepwright: job/1\n");
  write("old.yaml", "name: old\n");
  EXPECT_THROW(read("profile: job.yaml\nnodes: 1", folder_.path()), Error);
  EXPECT_THROW(read("profile: old.yaml\nnodes: 1", folder_.path()), Error);
}

}  // namespace
}  // namespace stepwright::cluster
