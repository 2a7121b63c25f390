#include "stepwright/cost/measured_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

using ::testing::HasSubstr;

MeasuredProfile read(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("stepwright-measured-" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << text;
  struct Remove {
    const std::filesystem::path& path;
    ~Remove() { std::filesystem::remove(path); }
  } remove{path};
  return load_measured(path);
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(MeasuredProfiles, AreReadAsTheyAreWritten) {
  const SocketLaw law{.start_s = 1e-3, .network_hop_s = 2e-4, .network_s_per_byte = 8e-8};
  const ComputationLaw product{.kind = OperatorKind::kLinear,
                               .phase = Phase::kDataGradient,
                               .dtype = DType::kFp32,
                               .start_s = 2e-5,
                               .s_per_flop = 1e-10};
  const nlohmann::ordered_json file = {
      {"stepwright", "measured/1"},
      {"name", "here"},
      {"messages", {{"library", "gloo"}, {"operations", {{"all_gather", socket_law_json(law)}}}}},
      {"computations", {computation_law_json(product)}}};
  const MeasuredProfile profile = read(file.dump());
  const auto& gathered = profile.of(Collective::kAllGather);
  ASSERT_TRUE(gathered.has_value());
  EXPECT_DOUBLE_EQ(gathered->start_s, 1e-3);
  EXPECT_DOUBLE_EQ(gathered->hop_s, 0);
  EXPECT_DOUBLE_EQ(gathered->network_hop_s, 2e-4);
  EXPECT_DOUBLE_EQ(gathered->network_s_per_byte, 8e-8);
  EXPECT_FALSE(profile.of(Collective::kAllReduce).has_value());
  const ComputationLaw* found = profile.find(
      {.kind = OperatorKind::kLinear, .phase = Phase::kDataGradient, .dtype = DType::kFp32});
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(found->seconds(1e6, 100), 2e-5 + 1e-4);
  EXPECT_EQ(profile.find({.kind = OperatorKind::kLinear, .dtype = DType::kFp32}), nullptr);
}

TEST(MeasuredProfiles, ThatAreNoneAreRefused) {
  EXPECT_THAT(refusal(R"({"stepwright": "profile/1"})"), HasSubstr("must be measured/1"));
  EXPECT_THAT(refusal(R"({"stepwright": "measured/1", "name": "n", "message": {}})"),
              HasSubstr("message"));
  EXPECT_THAT(refusal(R"({"stepwright": "measured/1", "name": "n",
                         "messages": {"library": "nccl", "operations": {}}})"),
              HasSubstr("only messages of gloo"));
  EXPECT_THAT(refusal(R"({"stepwright": "measured/1", "name": "n", "messages": {"library": "gloo",
                         "operations": {"all_gather": {"start_us": -1}}}})"),
              HasSubstr("start_us"));
}

}  // namespace
}  // namespace stepwright
