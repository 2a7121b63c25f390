#include "stepwright/cost/profiles/collective_profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/cost/profiles/machine_files.h"

namespace stepwright::cost {
namespace {

using testing::HasSubstr;

MachineCollectiveConstants read(const std::string& operations) {
  const YamlJsonDocument document = YamlJsonDocument::parse(
      R"([{"library": "nccl", "operations": )" + operations + "}]", "profile.json");
  MachineCollectiveConstants constants = default_collective_constants();
  EXPECT_TRUE(read_collective_constants(document.root(), "nccl", constants));
  return constants;
}

std::string refusal(const std::string& operations) {
  try {
    read(operations);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(CollectiveProfiles, OverlayWhatTheyState) {
  const MachineCollectiveConstants constants =
      read(R"({"all_gather": {"inside_share": 0.6, "hop": [0.1, 0.2, 0.3]}})");
  const CollectiveOperationConstants& gather =
      constants.of(collective::CollectiveOperation::kAllGather);
  EXPECT_EQ(gather.inside_share, 0.6);
  EXPECT_EQ(gather.protocols[2].hop, 0.3);
  EXPECT_EQ(gather.protocols[2].start_us, default_collective_constants()
                                              .of(collective::CollectiveOperation::kAllGather)
                                              .protocols[2]
                                              .start_us);
  EXPECT_EQ(constants.of(collective::CollectiveOperation::kAllReduce),
            default_collective_constants().of(collective::CollectiveOperation::kAllReduce));
}

TEST(CollectiveProfiles, ReadBackWhatTheyWrite) {
  CollectiveOperationConstants written =
      default_collective_constants().of(collective::CollectiveOperation::kAllReduce);
  written.switch_share = 0.5;
  written.protocols[0].start_us = 1.23456;
  const auto json = collective_constants_json(written, {.network = true, .tree = true});
  const MachineCollectiveConstants constants = read(R"({"all_reduce": )" + json.dump() + "}");
  written.protocols[0].start_us = 1.235;
  EXPECT_EQ(constants.of(collective::CollectiveOperation::kAllReduce), written);
}

TEST(CollectiveProfiles, LeaveOutWhatNoSampleShows) {
  const auto json = collective_constants_json(
      default_collective_constants().of(collective::CollectiveOperation::kAllReduce), {});
  for (const char* key : {"network_share", "tree_share", "network_hop", "switch_share"}) {
    EXPECT_FALSE(json.contains(key)) << key;
  }
}

TEST(CollectiveProfiles, RefuseWhatWouldLetTimeFall) {
  EXPECT_THAT(refusal(R"({"all_gather": {"rate": [0.5, 0.4, 1]}})"), HasSubstr("rates must not"));
  EXPECT_THAT(refusal(R"({"all_gather": {"belief": [0.9, 1, 1]}})"), HasSubstr("beliefs must not"));
  EXPECT_THAT(refusal(R"({"all_gather": {"rate": [1, 1]}})"), HasSubstr("each protocol"));
  EXPECT_THAT(refusal(R"({"all_gather": {"inside_share": 0}})"), HasSubstr("inside_share"));
  EXPECT_THAT(refusal(R"({"all_gather": {"share": 1}})"), HasSubstr("share"));
  EXPECT_THAT(refusal(R"({"gather": {}})"), HasSubstr("gather"));
}

TEST(CollectiveProfiles, OtherLibrariesAreOtherConstants) {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(R"([{"library": "trtllm", "operations": {}}])", "profile.json");
  MachineCollectiveConstants constants = default_collective_constants();
  EXPECT_FALSE(read_collective_constants(document.root(), "nccl", constants));
}

TEST(CollectiveProfiles, BuiltInOnesAreAllReadable) {
  EXPECT_GE(embedded_machine_profiles().size(), 18U);
  for (const EmbeddedFile& file : embedded_machine_profiles()) {
    const YamlJsonDocument document = YamlJsonDocument::parse(file.text, std::string(file.name));
    EXPECT_EQ(document.root().get("name").text(), file.name);
    const auto cluster = cluster::built_in_cluster(document.root().get("cluster").text(), 1);
    ASSERT_TRUE(cluster.has_value());
    EXPECT_EQ(document.root().get("device").text(), cluster->device.name);
    const DocumentNode list = document.root().get("collectives");
    for (std::size_t i = 0; i < list.size(); ++i) {
      MachineCollectiveConstants constants = default_collective_constants();
      EXPECT_TRUE(read_collective_constants(list, list.at(i).get("library").text(), constants));
    }
  }
}

}  // namespace
}  // namespace stepwright::cost
