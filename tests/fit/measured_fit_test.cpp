#include "stepwright/fit/measured_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/fit/least_squares.h"

namespace stepwright {
namespace {

using ::testing::HasSubstr;

constexpr SocketLaw kTruth{.start_s = 3e-4,
                           .hop_s = 1e-4,
                           .network_hop_s = 2e-4,
                           .inside_s_per_byte = 2e-8,
                           .network_s_per_byte = 8e-8};

/// Groups of a lab of 4 x 4, 4 KB to 4 MB, with some noise and one row that is wrong.
MeasuredSamples lab_samples(double noise) {
  MeasuredSamples samples;
  for (const auto& [nodes, members] :
       {std::pair{1, 2}, {1, 4}, {2, 1}, {2, 2}, {4, 1}, {4, 2}, {4, 4}}) {
    for (int doublings = 12; doublings <= 22; doublings += 2) {
      const double bytes = std::ldexp(1.0, doublings);
      MessageSample sample{.operation = Collective::kAllReduce,
                           .group = {nodes, members, 4 / members},
                           .payload_bytes = bytes};
      const double off = noise * std::sin(static_cast<double>(samples.messages.size()) * 12.9898);
      sample.seconds =
          kTruth.time(socket_loads(sample.operation, bytes, sample.group)).seconds * (1 + off);
      samples.messages.push_back(sample);
    }
  }
  return samples;
}

TEST(MeasuredFits, FindTheLawBehindMessages) {
  MeasuredSamples samples = lab_samples(0.02);
  samples.messages[7].seconds *= 3;
  const MeasuredFit fit = fit_measured(samples);
  ASSERT_TRUE(fit.messages.contains(Collective::kAllReduce));
  const auto& found = fit.messages.at(Collective::kAllReduce);
  EXPECT_NEAR(found.law.law.network_s_per_byte / kTruth.network_s_per_byte, 1, 0.03);
  EXPECT_NEAR(found.law.law.inside_s_per_byte / kTruth.inside_s_per_byte, 1, 0.03);
  EXPECT_NEAR(found.law.law.network_hop_s / kTruth.network_hop_s, 1, 0.1);
  EXPECT_LT(found.held_out_error, 0.03);
  EXPECT_EQ(found.rows, samples.messages.size());
}

TEST(MeasuredFits, FindTheLawBehindSchedules) {
  const ScheduleLaw truth{.start_s = 2e-3,
                          .message_s = 2e-4,
                          .network_hop_s = 1e-3,
                          .inside_s_per_byte = 1e-8,
                          .network_s_per_byte = 8e-8,
                          .chunk_bytes = 65536};
  MeasuredSamples samples;
  for (const auto& [nodes, members] : {std::pair{2, 2}, {2, 4}, {4, 2}, {4, 4}}) {
    for (int doublings = 12; doublings <= 26; doublings += 2) {
      MessageSample sample{.method = Algorithm::kHoRing,
                           .chunk_bytes = truth.chunk_bytes,
                           .operation = Collective::kAllGather,
                           .group = {nodes, members, 4 / members},
                           .payload_bytes = std::ldexp(1.0, doublings)};
      sample.seconds =
          truth.time(Algorithm::kHoRing, sample.operation, sample.payload_bytes, sample.group)
              .seconds;
      samples.messages.push_back(sample);
    }
  }
  samples.messages[20].seconds *= 1.2;
  const MeasuredFit fit = fit_measured(samples);
  const auto& found = fit.schedules.at({Algorithm::kHoRing, Collective::kAllGather});
  EXPECT_NEAR(found.law.law.network_s_per_byte / truth.network_s_per_byte, 1, 0.05);
  EXPECT_LT(found.held_out_error, 0.05);
  EXPECT_NEAR(
      factor_of(found.law.curves, samples.messages[20].group, samples.messages[20].payload_bytes),
      1.2, 0.05);

  samples.messages[3].chunk_bytes = 1024;
  EXPECT_THROW(static_cast<void>(fit_measured(samples)), Error);
}

TEST(MeasuredFits, OfComputationsAreByKindAndPhase) {
  MeasuredSamples samples;
  for (int step = 0; step < 9; ++step) {
    const double flops = 1e6 * std::pow(3, step);
    for (const Phase phase : {Phase::kForward, Phase::kDataGradient}) {
      const double rate = phase == Phase::kForward ? 4e10 : 2e10;
      samples.computations.push_back({.kind = OperatorKind::kLinear,
                                      .phase = phase,
                                      .dtype = DType::kFp32,
                                      .flops = flops,
                                      .bytes = std::sqrt(flops),
                                      .seconds = 5e-6 + flops / rate});
    }
  }
  const MeasuredFit fit = fit_measured(samples);
  ASSERT_EQ(fit.computations.size(), 2U);
  EXPECT_NEAR(fit.computations[0].law.s_per_flop, 1 / 4e10, 1e-13);
  EXPECT_NEAR(fit.computations[1].law.s_per_flop, 1 / 2e10, 1e-13);
  EXPECT_NEAR(fit.computations[0].law.start_s, 5e-6, 1e-7);
}

TEST(LeastSquares, LeaveOutWhatWouldBeNegative) {
  const std::vector<LinearRow> rows = {{{1, 1}, 1.0}, {{1, 2}, 0.9}, {{1, 4}, 0.8}};
  const std::vector<double> found = fit_positive(rows);
  EXPECT_GT(found[0], 0);
  EXPECT_EQ(found[1], 0);
}

TEST(OwnSamples, SayWhereTheyAreBad) {
  const std::string header(kMessageSampleHeader);
  const auto refusal = [&](const std::string& row) -> std::string {
    MeasuredSamples samples;
    try {
      read_measured_samples(parse_csv(header + "\n" + row + "\n", "s.csv"), samples);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(refusal("gloo,all_gather,1,4,1,4096,0,0.001"), "nothing");
  EXPECT_THAT(refusal("gloo,all_gathers,1,4,1,4096,0,0.001"), HasSubstr("s.csv:2: operation"));
  EXPECT_THAT(refusal("gloo,all_gather,1.5,4,1,4096,0,0.001"), HasSubstr("nodes: '1.5'"));
  EXPECT_THAT(refusal("gloo,all_gather,1,4,1,4096,0,0"), HasSubstr("seconds: '0'"));
  EXPECT_THAT(refusal("ring,all_gather,2,4,1,4096,0,0.001"), HasSubstr("chunk_bytes: '0'"));
  EXPECT_THAT(refusal("nccl,all_gather,2,4,1,4096,0,0.001"), HasSubstr("library: 'nccl'"));
  EXPECT_FALSE(holds_measured_samples(parse_csv("op,nodes\n", "s.csv")));
}

}  // namespace
}  // namespace stepwright
