#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/unlikely.h"
#include "stepwright/core/error.h"
#include "tests/cluster/example.h"

namespace stepwright::cluster {
namespace {

using testing::HasSubstr;

/// Returns the error for a mapping.
std::string refusal(const YamlJsonDocument& document) {
  try {
    read_job_cluster(document.root(), {});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

std::string refusal(std::string_view text) {
  return refusal(YamlJsonDocument::parse(text, "job.yaml"));
}

/// Returns the error for `kInline` with one value changed.
std::string refusal(std::string_view path, std::string_view value) {
  return refusal(
      YamlJsonDocument::parse(kInline, "job.yaml").copy_with_replaced_scalar(path, value));
}

TEST(RejectCluster, NamesTheNearestProfileAndDevice) {
  EXPECT_THAT(refusal("profile: dgx-h10\nnodes: 1"), HasSubstr("did you mean 'dgx-h100'?"));
  EXPECT_THAT(refusal("profile: dgx-h100\nnodes: 1\ndevice: h200-sxn"),
              HasSubstr("did you mean 'h200-sxm'?"));
}

TEST(RejectCluster, SaysWhichKeyAnotherWordStandsFor) {
  EXPECT_THAT(refusal("profile: dgx-h100\ngpus: 16"),
              HasSubstr("unknown key 'gpus': use 'devices' (all devices), or 'nodes'"));
  EXPECT_THAT(refusal("profile: dgx-h100\nnodes: 2\ngpus_per_node: 4"),
              HasSubstr("use 'devices_per_node'"));
}

TEST(ClusterUnits, AreTakenEverywhere) {
  const YamlJsonDocument bare = YamlJsonDocument::parse(
      "profile: dgx-h100\nnodes: 2\nnic: 25e9\nlevels: [{name: nvlink, size: 8, bandwidth: 450e9, "
      "latency: 1.5e-6}]",
      "job.yaml");
  const YamlJsonDocument units = YamlJsonDocument::parse(
      "profile: dgx-h100\nnodes: 2\nnic: 200 Gbit/s\nlevels: [{name: nvlink, size: 8, bandwidth: "
      "450 GB/s, latency: 1.5 us}]",
      "job.yaml");
  EXPECT_EQ(read_job_cluster(bare.root(), {}), read_job_cluster(units.root(), {}));
}

TEST(UnlikelyFigures, AreNumbersInAnotherUnit) {
  const auto of = [](const std::string& keys) {
    const YamlJsonDocument document =
        YamlJsonDocument::parse("profile: dgx-h100\nnodes: 2\n" + keys, "job.yaml");
    return implausible_cluster_notes(read_job_cluster(document.root(), {}));
  };
  EXPECT_THAT(of("nic: 200"),
              testing::ElementsAre(testing::StartsWith(
                  "cluster.nic is 200 bytes/s, far outside the range of real hardware")));
  EXPECT_THAT(of("device: {name: x, memory: 80, memory_bandwidth: 3350, peak: {bf16: 989}}"),
              testing::SizeIs(3));
}

TEST(UnlikelyFigures, AreInNoProfile) {
  for (const std::string_view name : built_in_cluster_names()) {
    EXPECT_THAT(implausible_cluster_notes(*built_in_cluster(name, 1)), testing::IsEmpty()) << name;
  }
}

TEST(RejectCluster, NamesFileFieldAndRange) {
  EXPECT_THAT(refusal("profile: dgx-h100\nnodes: 2\nnic: -1"),
              HasSubstr("job.yaml:3:6: nic: must be a number from 1 to 1e+18; it is -1"));
  EXPECT_THAT(refusal("levels.1.bandwidth", "0"), HasSubstr("levels.1.bandwidth: must be"));
}

TEST(RejectCluster, RefusesNumbersThatNoMachineHas) {
  for (const std::string_view path :
       {"device.memory", "device.memory_bandwidth", "device.peak.bf16", "nodes", "nic",
        "devices_per_node", "nics_per_node", "levels.0.size", "levels.0.bandwidth",
        "network.0.nodes", "network.0.oversubscription"}) {
    for (const std::string_view value :
         {"0", "-8", "9223372036854775808", "1e300", ".nan", "nan", "inf", "fast", "\"8\""}) {
      EXPECT_NE(refusal(path, value), "accepted") << path << ": " << value;
    }
  }
  EXPECT_NE(refusal("levels.0.latency", "-1e-6"), "accepted");
  EXPECT_NE(refusal("levels.0.latency", "2"), "accepted");
  EXPECT_EQ(refusal("levels.0.latency", "0"), "accepted");
  EXPECT_NE(refusal("nodes", "2.5"), "accepted");
}

TEST(RejectCluster, RefusesUnknownKeys) {
  EXPECT_THAT(refusal("nics", "2"), HasSubstr("unknown key 'nics'"));
  EXPECT_THAT(refusal("device.memroy", "2"), HasSubstr("did you mean 'memory'?"));
  EXPECT_THAT(refusal("device.peak.int8", "2"), HasSubstr("unknown key 'int8'"));
  EXPECT_THAT(refusal("levels.0.nodes", "2"), HasSubstr("unknown key 'nodes'"));
  EXPECT_THAT(refusal("network.0.bandwidth", "2"), HasSubstr("unknown key 'bandwidth'"));
  EXPECT_THAT(refusal("stepwright", "cluster/1"), HasSubstr("unknown key 'stepwright'"));
}

TEST(RejectCluster, RefusesLevelsThatDoNotNest) {
  EXPECT_THAT(refusal("levels.0.size", "3"), HasSubstr("multiple of the 3"));
  EXPECT_THAT(refusal("levels.0.size", "1"), HasSubstr("levels must nest"));
  EXPECT_THAT(refusal("levels.1.size", "6"), HasSubstr("must join all its 4 devices"));
  EXPECT_THAT(refusal("devices_per_node", "8"), HasSubstr("must join all its 8 devices"));
  EXPECT_THAT(refusal("network.1.nodes", "8"), HasSubstr("'spine' must not state 'nodes'"));
  EXPECT_THAT(refusal("profile: dgx-h100\nnodes: 8\nnetwork:\n  - {name: leaf}\n  - {name: top}"),
              HasSubstr("'leaf' must state 'nodes'"));
  EXPECT_THAT(refusal("profile: dgx-h100\nnodes: 8\nnetwork:\n  - {name: leaf, nodes: 4}\n"
                      "  - {name: row, nodes: 6}\n  - {name: top}"),
              HasSubstr("multiple of the 4"));
}

TEST(RejectCluster, RefusesTooManyLevels) {
  std::string text = "profile: dgx-h100\nnodes: 8\nnetwork:\n";
  for (const int nodes : {2, 4, 8, 16, 32}) {
    text += "  - {name: l, nodes: " + std::to_string(nodes) + "}\n";
  }
  EXPECT_THAT(refusal(text + "  - {name: top}\n"), HasSubstr("at most 6"));
  EXPECT_EQ(refusal("profile: dgx-h100\nnodes: 8\nnetwork: []"), "accepted");
}

TEST(RejectCluster, RefusesNicsThatDoNotExist) {
  const std::string start = "profile: jean-zay-a100\nnodes: 2\nnic_of_device: ";
  EXPECT_THAT(refusal(start + "[0, 1]"), HasSubstr("names 2 NICs"));
  EXPECT_THAT(refusal(start + "[0, 1, 2, 3, 0, 1, 2, 4]"), HasSubstr("names NIC 4"));
  EXPECT_NE(refusal(start + "[0, 1, 2, 3, 0, 1, 2, -1]"), "accepted");
  EXPECT_NE(refusal(start + "4"), "accepted");
  EXPECT_EQ(refusal(start + "[3, 3, 2, 2, 1, 1, 0, 0]"), "accepted");
}

TEST(RejectCluster, RefusesDevicesThatDoNotFillNodes) {
  EXPECT_THAT(refusal("profile: dgx-h100\ndevices: 20"), HasSubstr("16 or 24 would"));
  EXPECT_THAT(refusal("profile: dgx-h100\nnodes: 2\ndevices: 16"), HasSubstr("give only one"));
  EXPECT_THAT(refusal("profile: dgx-h100"), HasSubstr("'nodes' is missing"));
  EXPECT_THAT(refusal("profile: dgx-h100\nnodes: 1e9"), HasSubstr("from 1 to 1048576"));
}

TEST(RejectCluster, NamesWhatIsMissing) {
  for (const std::string key : {"name", "device", "nodes", "devices_per_node", "levels"}) {
    const std::string text = "\n" + std::string(kInline);
    const std::size_t begin = text.find("\n" + key + ":") + 1;
    std::size_t end = text.find('\n', begin) + 1;
    while (end < text.size() && text[end] == ' ') end = text.find('\n', end) + 1;
    EXPECT_THAT(refusal(text.substr(0, begin) + text.substr(end)),
                HasSubstr("'" + key + "' is missing"));
  }
  EXPECT_THAT(refusal("name: x\ndevice: a40\nnodes: 2\ndevices_per_node: 1"),
              HasSubstr("'nic' is missing"));
  EXPECT_THAT(refusal("name: x\ndevice: a40\nnodes: 2\ndevices_per_node: 1\nnic: 1e9"),
              HasSubstr("'nics_per_node' is missing"));
  EXPECT_THAT(refusal("name: x\ndevice: {name: y, memory: 1e9, memory_bandwidth: 1e9}\nnodes: 1"),
              HasSubstr("'peak' is missing"));
}

TEST(RejectCluster, RefusesWhatIsNoMapping) {
  EXPECT_NE(refusal("no-such-profile"), "accepted");
  EXPECT_NE(refusal("- dgx-h100"), "accepted");
  EXPECT_NE(refusal(""), "accepted");
  EXPECT_NE(refusal("profile: dgx-h100\nnodes: 1\nlevels: {}"), "accepted");
  EXPECT_NE(refusal("profile: dgx-h100\nnodes: 1\ndevice: []"), "accepted");
  EXPECT_NE(refusal("profile: [dgx-h100]\nnodes: 1"), "accepted");
}

TEST(RejectCluster, NamesAMissingFile) {
  EXPECT_THAT(refusal("profile: absent.yaml\nnodes: 1"),
              HasSubstr("job.yaml:1:10: profile: there is no file 'absent.yaml'"));
}

}  // namespace
}  // namespace stepwright::cluster
