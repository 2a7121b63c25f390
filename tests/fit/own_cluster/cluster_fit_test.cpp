#include "stepwright/fit/own_cluster/cluster_fit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/fit/own_cluster/computation_law_fit.h"

namespace stepwright::fit {
namespace {

using ::testing::HasSubstr;

constexpr cost::GlooCostLaw kTruth{.start_s = 3e-4,
                                   .hop_s = 1e-4,
                                   .network_hop_s = 2e-4,
                                   .inside_s_per_byte = 2e-8,
                                   .network_s_per_byte = 8e-8};

/// Returns samples of groups in a lab of 4 x 4, 4 KB to 4 MB, with some noise and one wrong row.
OwnClusterSamples lab_samples(double noise) {
  OwnClusterSamples samples;
  for (const auto& [nodes, members] :
       {std::pair{1, 2}, {1, 4}, {2, 1}, {2, 2}, {4, 1}, {4, 2}, {4, 4}}) {
    for (int doublings = 12; doublings <= 22; doublings += 2) {
      const double bytes = std::ldexp(1.0, doublings);
      OwnCollectiveSample sample{.operation = collective::CollectiveOperation::kAllReduce,
                                 .group = {nodes, members, 4 / members},
                                 .payload_bytes = bytes};
      const double off = noise * std::sin(static_cast<double>(samples.messages.size()) * 12.9898);
      sample.seconds =
          kTruth.time(cost::socket_loads(sample.operation, bytes, sample.group)).seconds *
          (1 + off);
      samples.messages.push_back(sample);
    }
  }
  return samples;
}

TEST(ClusterFits, FindTheLawBehindMessages) {
  OwnClusterSamples samples = lab_samples(0.02);
  samples.messages[7].seconds *= 3;
  const OwnClusterFit fit = fit_own_cluster(samples);
  ASSERT_TRUE(fit.messages.contains(collective::CollectiveOperation::kAllReduce));
  const auto& found = fit.messages.at(collective::CollectiveOperation::kAllReduce);
  EXPECT_NEAR(found.law.law.network_s_per_byte / kTruth.network_s_per_byte, 1, 0.03);
  EXPECT_NEAR(found.law.law.inside_s_per_byte / kTruth.inside_s_per_byte, 1, 0.03);
  EXPECT_NEAR(found.law.law.network_hop_s / kTruth.network_hop_s, 1, 0.1);
  EXPECT_LT(found.held_out_error.value(), 0.03);
  EXPECT_EQ(found.rows, samples.messages.size());
}

/// Overlapping a computation and a message saves a share of the message's time.
TEST(ClusterFits, TellHowMuchSlowerComputationIsBesideMessages) {
  OwnClusterSamples samples;
  samples.overlaps = {{cost::LinkClass::kInside, 4, 2, 4.5},    // 1.5 of 2 seconds saved
                      {cost::LinkClass::kInside, 2, 1, 2.2},    // 0.8 of 1
                      {cost::LinkClass::kInside, 2, 1, 9},      // disturbed
                      {cost::LinkClass::kNetwork, 2, 1, 3.5}};  // longer than one after the other
  const OwnClusterFit fit = fit_own_cluster(samples);
  EXPECT_DOUBLE_EQ(fit.overlap.beside_inside, 2 / 1.5);
  EXPECT_DOUBLE_EQ(fit.overlap.beside_network, cost::kMaxMeasuredSlowdownFactor);
  samples.overlaps = {{cost::LinkClass::kInside, 2, 1, 1.9}};  // faster together: none is slower
  EXPECT_DOUBLE_EQ(fit_own_cluster(samples).overlap.beside_inside, 1);
  EXPECT_DOUBLE_EQ(fit_own_cluster(samples).overlap.beside_network, 0);
}

TEST(ClusterFits, FindTheLawBehindSchedules) {
  const cost::ScheduledCollectiveLaw truth{.start_s = 2e-3,
                                           .message_s = 2e-4,
                                           .network_hop_s = 1e-3,
                                           .inside_s_per_byte = 1e-8,
                                           .network_s_per_byte = 8e-8,
                                           .chunk_bytes = 65536};
  OwnClusterSamples samples;
  for (const auto& [nodes, members] : {std::pair{2, 2}, {2, 4}, {4, 2}, {4, 4}}) {
    for (int doublings = 12; doublings <= 26; doublings += 2) {
      OwnCollectiveSample sample{.method = collective::CollectiveAlgorithm::kHoRing,
                                 .chunk_bytes = truth.chunk_bytes,
                                 .operation = collective::CollectiveOperation::kAllGather,
                                 .group = {nodes, members, 4 / members},
                                 .payload_bytes = std::ldexp(1.0, doublings)};
      sample.seconds =
          truth
              .collective_time_by_schedule(collective::CollectiveAlgorithm::kHoRing,
                                           sample.operation, sample.payload_bytes, sample.group)
              .seconds;
      samples.messages.push_back(sample);
    }
  }
  samples.messages[20].seconds *= 1.2;
  const OwnClusterFit fit = fit_own_cluster(samples);
  const auto& found = fit.schedules.at(
      {collective::CollectiveAlgorithm::kHoRing, collective::CollectiveOperation::kAllGather});
  EXPECT_NEAR(found.law.law.network_s_per_byte / truth.network_s_per_byte, 1, 0.05);
  EXPECT_LT(found.held_out_error.value(), 0.05);
  EXPECT_NEAR(cost::measured_time_factor(found.law.curves, samples.messages[20].group,
                                         samples.messages[20].payload_bytes),
              1.2, 0.05);
}

TEST(ClusterFits, RefuseTwoChunkSizesOfOneMethod) {
  OwnClusterSamples samples;
  const std::string header(cost::kMessageSampleCsvHeader);
  read_own_cluster_samples(
      parse_csv(header + "\nring,all_gather,2,4,1,4096,1024,0.001\n", "first.csv"), samples);
  read_own_cluster_samples(
      parse_csv(header + "\nring,all_gather,2,4,1,4096,2048,0.001\n", "second.csv"), samples);
  try {
    fit_own_cluster(samples);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(),
                HasSubstr("second.csv:2: chunk_bytes: 2048, and 1024 in first.csv:2"));
  }
}

/// A left-out time close to zero has an error that is not a number.
TEST(ClusterFits, LackAnErrorThatIsNoNumber) {
  OwnClusterFit fit;
  fit.computations.push_back({.law = {.start_s = 1e-3}, .rows = 5, .held_out_error = INFINITY});
  EXPECT_FALSE(measured_profile_json(fit, "n", {})["computations"][0].contains("held_out_error"));
  fit.computations[0].held_out_error = 0.25;
  EXPECT_EQ(measured_profile_json(fit, "n", {})["computations"][0]["held_out_error"], 0.25);
}

TEST(ClusterFits, OfComputationsAreByKindAndPhase) {
  OwnClusterSamples samples;
  for (int step = 0; step < 9; ++step) {
    const double flops = 1e6 * std::pow(3, step);
    for (const step::Phase phase : {step::Phase::kForward, step::Phase::kDataGradient}) {
      const double rate = phase == step::Phase::kForward ? 4e10 : 2e10;
      samples.computations.push_back({.kind = step::OperatorKind::kLinear,
                                      .phase = phase,
                                      .dtype = DType::kFp32,
                                      .flops = flops,
                                      .bytes = std::sqrt(flops),
                                      .seconds = 5e-6 + flops / rate});
    }
  }
  const OwnClusterFit fit = fit_own_cluster(samples);
  ASSERT_EQ(fit.computations.size(), 2U);
  EXPECT_NEAR(fit.computations[0].law.s_per_flop, 1 / 4e10, 1e-13);
  EXPECT_NEAR(fit.computations[1].law.s_per_flop, 1 / 2e10, 1e-13);
  EXPECT_NEAR(fit.computations[0].law.start_s, 5e-6, 1e-7);
}

/// Returns samples each with 1 MFLOP more than the previous one, and so many bytes.
std::vector<OwnComputationSample> computations(std::initializer_list<double> seconds,
                                               double bytes) {
  std::vector<OwnComputationSample> samples;
  for (const double each : seconds) {
    samples.push_back({.kind = step::OperatorKind::kLinear,
                       .phase = step::Phase::kForward,
                       .dtype = DType::kFp32,
                       .flops = 1e6 * static_cast<double>(samples.size() + 1),
                       .bytes = bytes,
                       .seconds = each});
  }
  return samples;
}

TEST(ComputationLawFit, LeavesOutWhatWouldBeNegative) {
  const cost::ComputationTimeLaw law =
      fit_computation_time_law(computations({1.0, 0.98, 0.96, 0.94}, 0));
  EXPECT_EQ(law.s_per_flop, 0);
  EXPECT_NEAR(law.start_s, 0.97, 0.01);
}

TEST(ComputationLawFit, WhatNoSampleHasCostsNothing) {
  const cost::ComputationTimeLaw law =
      fit_computation_time_law(computations({2e-3, 3e-3, 4e-3, 5e-3}, 0));
  EXPECT_EQ(law.s_per_byte, 0);
  EXPECT_NEAR(law.start_s, 1e-3, 1e-9);
  EXPECT_NEAR(law.s_per_flop, 1e-9, 1e-15);
}

TEST(ComputationLawFit, OneSampleFarOffChangesLittle) {
  const cost::ComputationTimeLaw law =
      fit_computation_time_law(computations({2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 21e-3, 8e-3, 9e-3}, 0));
  EXPECT_NEAR(law.s_per_flop, 1e-9, 0.03e-9);
}

std::string table_refusal(std::string_view header, const std::string& rows) {
  OwnClusterSamples samples;
  try {
    read_own_cluster_samples(parse_csv(fmt::format("{}\n{}", header, rows), "s.csv"), samples);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "nothing";
}

TEST(OwnSample, SayWhereTheyAreBad) {
  const auto refusal = [](const std::string& row) {
    return table_refusal(cost::kMessageSampleCsvHeader, row + "\n");
  };
  EXPECT_EQ(refusal("gloo,all_gather,1,4,1,4096,0,0.001"), "nothing");
  EXPECT_THAT(refusal("gloo,all_gathers,1,4,1,4096,0,0.001"), HasSubstr("s.csv:2: operation"));
  EXPECT_THAT(refusal("gloo,all_gather,1.5,4,1,4096,0,0.001"), HasSubstr("nodes: '1.5'"));
  EXPECT_THAT(refusal("gloo,all_gather,1,4,1,4096,0,0"), HasSubstr("seconds: '0'"));
  EXPECT_THAT(refusal("ring,all_gather,2,4,1,4096,0,0.001"), HasSubstr("chunk_bytes: '0'"));
  EXPECT_THAT(refusal("nccl,all_gather,2,4,1,4096,0,0.001"), HasSubstr("library: 'nccl'"));
  EXPECT_FALSE(table_has_own_cluster_timings(parse_csv("op,nodes\n", "s.csv")));
}

TEST(OwnSample, HaveTheLimitsOfMeasuredProfiles) {
  const auto message = [](const std::string& row) {
    return table_refusal(cost::kMessageSampleCsvHeader, row + "\n");
  };
  EXPECT_THAT(message("gloo,all_gather,1,4,1,0.5,0,0.001"),
              HasSubstr("s.csv:2: payload_bytes: '0.5' is not a number from 1 to 1e+18"));
  EXPECT_THAT(message("gloo,all_gather,1,4,1,1e19,0,0.001"), HasSubstr("payload_bytes: '1e19'"));
  EXPECT_THAT(message("gloo,all_gather,1e7,4,1,4096,0,0.001"), HasSubstr("nodes: '1e7'"));
  EXPECT_THAT(message("gloo,all_gather,1,1e7,1,4096,0,0.001"), HasSubstr("ranks_of_node: '1e7'"));
  EXPECT_THAT(message("gloo,all_gather,1,4,1e7,4096,0,0.001"), HasSubstr("groups_of_node: '1e7'"));
  EXPECT_THAT(message("ring,all_gather,2,4,1,4096,0.5,0.001"), HasSubstr("chunk_bytes: '0.5'"));
  EXPECT_THAT(message("ring,all_gather,2,4,1,4096,1e19,0.001"), HasSubstr("chunk_bytes: '1e19'"));
  EXPECT_THAT(message("gloo,all_gather,1,4,1,4096,0,1e-300"),
              HasSubstr("seconds: '1e-300' is not a number from 1e-12 to 1000000"));
  EXPECT_THAT(message("gloo,all_gather,1,4,1,4096,0,1e7"), HasSubstr("seconds: '1e7'"));
  EXPECT_THAT(message("gloo,all_gather,1,4,1,4096,0,nan"), HasSubstr("seconds: 'nan'"));

  const auto computation = [](const std::string& row) {
    return table_refusal(cost::kComputationSampleCsvHeader, "linear,forward,fp32,," + row + "\n");
  };
  EXPECT_EQ(computation("0,0,0.001"), "nothing");
  EXPECT_THAT(computation("1e-5,0,10"), HasSubstr("flops: '1e-5' is not 0 or a number from 1"));
  EXPECT_THAT(computation("1e300,0,10"), HasSubstr("flops: '1e300'"));
  EXPECT_THAT(computation("8,0.5,10"), HasSubstr("memory_bytes: '0.5'"));

  EXPECT_THAT(table_refusal(cost::kOverlapSampleCsvHeader, "inside,all_gather,x,1e6,1,1,1e-20\n"),
              HasSubstr("s.csv:2: seconds_together: '1e-20'"));
}

TEST(OwnSample, OfNoRowAreRefused) {
  for (const std::string_view header :
       {cost::kMessageSampleCsvHeader, cost::kComputationSampleCsvHeader,
        cost::kOverlapSampleCsvHeader}) {
    EXPECT_THAT(table_refusal(header, ""), HasSubstr("s.csv: no row below the header"));
  }
}

}  // namespace
}  // namespace stepwright::fit
