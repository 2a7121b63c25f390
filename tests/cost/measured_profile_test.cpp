#include "stepwright/cost/profiles/measured_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"

namespace stepwright::cost {
namespace {

using ::testing::HasSubstr;

MeasuredProfile measured_of(const std::string& text) {
  return read_measured(YamlJsonDocument::parse(text, "measured.json"));
}

std::string refusal_of_measured(const std::string& text) {
  try {
    static_cast<void>(measured_of(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(MeasuredProfiles, AreReadAsTheyAreWritten) {
  const GlooCostLaw law{.start_s = 1e-3, .network_hop_s = 2e-4, .network_s_per_byte = 8e-8};
  const ScheduledCollectiveLaw schedule{.message_s = 1e-4,
                                        .inside_s_per_byte = 1e-8,
                                        .network_s_per_byte = 8e-8,
                                        .chunk_bytes = 4096};
  const TimeRatioCurve curve{.group = {2, 4, 1}, .factors = {{1e4, 1.25}, {1e6, 0.75}}};
  const ComputationTimeLaw product{.kind = step::OperatorKind::kLinear,
                                   .phase = step::Phase::kDataGradient,
                                   .dtype = DType::kFp32,
                                   .start_s = 2e-5,
                                   .s_per_flop = 1e-10};
  const MessageHostOverheadLaw host_overhead{
      .scheme = step::ParallelismScheme::kData,
      .operation = collective::CollectiveOperation::kAllGather,
      .start_s = 3e-4,
      .s_per_byte = 2e-10};
  const nlohmann::ordered_json file = {
      {"stepwright", "measured/1"},
      {"name", "here"},
      {"messages",
       {message_law_json(collective::CollectiveOperation::kAllGather, {law, {}}),
        message_law_json(collective::CollectiveAlgorithm::kHoRing,
                         collective::CollectiveOperation::kAllReduce, {schedule, {curve}})}},
      {"handling", {host_overhead_law_json(host_overhead)}},
      {"computations", {computation_time_law_json(product)}}};
  const MeasuredProfile profile = measured_of(file.dump());
  const auto& gathered =
      profile.messages.gloo[static_cast<std::size_t>(collective::CollectiveOperation::kAllGather)];
  ASSERT_TRUE(gathered.has_value());
  EXPECT_DOUBLE_EQ(gathered->law.start_s, 1e-3);
  EXPECT_DOUBLE_EQ(gathered->law.hop_s, 0);
  EXPECT_DOUBLE_EQ(gathered->law.network_hop_s, 2e-4);
  EXPECT_DOUBLE_EQ(gathered->law.network_s_per_byte, 8e-8);
  const GroupNodePlacement group{2, 4, 1};
  const auto time = [&](collective::CollectiveAlgorithm algorithm, const GroupNodePlacement& of) {
    return profile.messages.measured_message_time(
        algorithm_run_as_explicit_schedule(algorithm, collective::CollectiveOperation::kAllReduce,
                                           of),
        collective::CollectiveOperation::kAllReduce, 1e5, of);
  };
  ASSERT_TRUE(time(collective::CollectiveAlgorithm::kHoRing, group).has_value());
  EXPECT_DOUBLE_EQ(
      time(collective::CollectiveAlgorithm::kHoRing, group)->seconds,
      schedule
          .collective_time_by_schedule(collective::CollectiveAlgorithm::kHoRing,
                                       collective::CollectiveOperation::kAllReduce, 1e5, group)
          .seconds);
  EXPECT_FALSE(time(collective::CollectiveAlgorithm::kLibrary, group).has_value())
      << "no all-reduce of Gloo is known";
  EXPECT_FALSE(time(collective::CollectiveAlgorithm::kHoRing, {2, 1, 4}).has_value())
      << "not two levels";
  const ComputationTimeLaw* found = profile.find({.kind = step::OperatorKind::kLinear,
                                                  .phase = step::Phase::kDataGradient,
                                                  .dtype = DType::kFp32});
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(found->seconds(1e6, 100), 2e-5 + 1e-4);
  EXPECT_EQ(profile.find({.kind = step::OperatorKind::kLinear, .dtype = DType::kFp32}), nullptr);
  EXPECT_DOUBLE_EQ(
      profile.message_host_overhead_s(step::ParallelismScheme::kData,
                                      collective::CollectiveOperation::kAllGather, 1e6),
      3e-4 + 2e-4);
  EXPECT_EQ(profile.message_host_overhead_s(step::ParallelismScheme::kTensor,
                                            collective::CollectiveOperation::kAllGather, 1e6),
            0);
  EXPECT_EQ(profile.message_host_overhead_s(step::ParallelismScheme::kData,
                                            collective::CollectiveOperation::kAllReduce, 1e6),
            0);
}

/// Least squares push the time per byte towards 0 if no time depends on bytes.
TEST(MeasuredProfiles, LackRatesThatNoComputationShows) {
  const auto json_of = [](double start_s, double s_per_flop, double s_per_byte) {
    return computation_time_law_json(
        {.start_s = start_s, .s_per_flop = s_per_flop, .s_per_byte = s_per_byte});
  };
  const nlohmann::ordered_json law = json_of(3e-6, 1e-25, 1e-19);
  EXPECT_FALSE(law.contains("flops_per_s"));
  EXPECT_EQ(law["bytes_per_s"], 1e19);
  EXPECT_EQ(law["start_us"], 3);
  EXPECT_FALSE(json_of(1e-320, 0, 0).contains("start_us"));
  EXPECT_FALSE(json_of(0, 0, 1e-320).contains("bytes_per_s"));
}

/// A constant that is not a number must not be read as 0.
TEST(MeasuredProfiles, HoldNoNumberAsNullWhichIsRefused) {
  const auto refusal = [](const ComputationTimeLaw& law) {
    const nlohmann::ordered_json file = {{"stepwright", "measured/1"},
                                         {"name", "n"},
                                         {"computations", {computation_time_law_json(law)}}};
    return refusal_of_measured(file.dump());
  };
  EXPECT_THAT(refusal({.start_s = NAN}), HasSubstr("computations.0.start_us"));
  EXPECT_THAT(refusal({.s_per_flop = NAN}), HasSubstr("computations.0.flops_per_s"));
  EXPECT_THAT(refusal({.start_s = 1e7}), HasSubstr("computations.0.start_us"));
  EXPECT_THAT(refusal({.s_per_byte = 1e4}), HasSubstr("computations.0.bytes_per_s"));
}

TEST(MeasuredProfiles, CorrectLawsBetweenSamples) {
  const std::vector<TimeRatioCurve> curves{
      {.group = {2, 4, 1}, .factors = {{1e4, 1.25}, {1e6, 0.75}}}};
  const auto factor = [&](double bytes) { return measured_time_factor(curves, {2, 4, 1}, bytes); };
  EXPECT_DOUBLE_EQ(factor(100), 1.25);
  EXPECT_DOUBLE_EQ(factor(1e4), 1.25);
  EXPECT_DOUBLE_EQ(factor(1e5), 1.0);
  EXPECT_DOUBLE_EQ(factor(1e6), 0.75);
  EXPECT_DOUBLE_EQ(factor(1e9), 0.75);
  EXPECT_DOUBLE_EQ(measured_time_factor(curves, {2, 2, 2}, 1e5), 1);
}

TEST(MeasuredProfiles, ThatAreNoneAreRefused) {
  EXPECT_THAT(refusal_of_measured(R"({"stepwright": "profile/1"})"),
              HasSubstr("must be measured/1"));
  EXPECT_THAT(refusal_of_measured(R"({"stepwright": "measured/1", "name": "n", "message": {}})"),
              HasSubstr("message"));
  EXPECT_THAT(refusal_of_measured(R"({"stepwright": "measured/1", "name": "n",
                         "messages": [{"library": "nccl", "operation": "all_gather"}]})"),
              HasSubstr("only messages of gloo"));
  EXPECT_THAT(refusal_of_measured(R"({"stepwright": "measured/1", "name": "n", "messages": [
                         {"library": "gloo", "operation": "all_gather", "start_us": -1}]})"),
              HasSubstr("start_us"));
  EXPECT_THAT(refusal_of_measured(R"({"stepwright": "measured/1", "name": "n", "messages": [
                         {"library": "gloo", "operation": "all_gather", "shapes": [{"nodes": 1,
                          "ranks_of_node": 4, "groups_of_node": 1, "factors": [[9, 1], [8, 1]]}]}]})"),
              HasSubstr("bytes must ascend"));
}

}  // namespace
}  // namespace stepwright::cost
