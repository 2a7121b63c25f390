#include "stepwright/fit/collectives/constants_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::fit {
namespace {

/// Returns timed rings of 2, 4 and 8 ranks at 300e9 inside a node, 2.5 us a hop, 1 KiB to 1 GiB.
std::vector<TimedCollectiveRoutes> rings(const cost::CollectiveOperationConstants& truth,
                                         double noise) {
  std::vector<TimedCollectiveRoutes> samples;
  for (const double ranks : {2.0, 4.0, 8.0}) {
    for (std::int64_t size = 1024; size < 2'000'000'000; size *= 2) {
      const auto bytes = static_cast<double>(size);
      TimedCollectiveRoutes sample;
      sample.routes.ring = {.inside_s = bytes * (ranks - 1) / ranks / 300e9,
                            .inside_hops_s = 2.5e-6 * (ranks - 1),
                            .exists = true};
      sample.routes.few_ranks = 1 / (ranks - 1);
      const double off = noise * std::sin(static_cast<double>(samples.size()) * 12.9898);
      sample.seconds = cost::message_seconds_by_algorithm(sample.routes, truth) * (1 + off);
      samples.push_back(sample);
    }
  }
  return samples;
}

cost::CollectiveOperationConstants truth() {
  cost::CollectiveOperationConstants constants;
  constants.protocols = {{{.start_us = 5, .hop = 0.3, .rate = 0.05, .selection = 1},
                          {.start_us = 7, .hop = 0.4, .rate = 0.5, .selection = 1},
                          {.start_us = 22, .hop = 1.5, .rate = 1, .selection = 0.74}}};
  constants.fill = 1;
  constants.inside_share = 0.7;
  constants.few_ranks = 0.2;
  constants.network_share = 0.6;
  return constants;
}

double worst(const cost::CollectiveOperationConstants& constants,
             const std::vector<TimedCollectiveRoutes>& samples) {
  double most = 0;
  for (const TimedCollectiveRoutes& sample : samples) {
    most = std::max(most, std::fabs(cost::message_seconds_by_algorithm(sample.routes, constants) /
                                        sample.seconds -
                                    1));
  }
  return most;
}

TEST(ConstantsFit, FindsConstantsThatMadeTheSamples) {
  const auto samples = rings(truth(), 0);
  cost::CollectiveOperationConstants start =
      cost::default_collective_constants().of(collective::CollectiveOperation::kAllGather);
  EXPECT_GT(worst(start, samples), 0.2);
  const cost::CollectiveOperationConstants fitted = fit_collective_constants(samples, start);
  EXPECT_LT(worst(fitted, samples), 0.06);
  EXPECT_NEAR(fitted.inside_share, 0.7, 0.02);
  EXPECT_NEAR(fitted.protocols[0].start_us, 5, 0.3);
}

TEST(ConstantsFit, OneRowFarOffChangesLittle) {
  auto samples = rings(truth(), 0.01);
  const cost::CollectiveOperationConstants start =
      cost::default_collective_constants().of(collective::CollectiveOperation::kAllGather);
  const double without = fit_collective_constants(samples, start).inside_share;
  samples.back().seconds *= 10;
  EXPECT_NEAR(fit_collective_constants(samples, start).inside_share, without, 0.02);
}

TEST(ConstantsFit, WhatNoSampleShowsStays) {
  const cost::CollectiveOperationConstants start =
      cost::default_collective_constants().of(collective::CollectiveOperation::kAllGather);
  const cost::CollectiveOperationConstants fitted =
      fit_collective_constants(rings(truth(), 0), start);
  EXPECT_NEAR(fitted.network_share, start.network_share, 1e-9);
  EXPECT_NEAR(fitted.protocols[1].network_hop, start.protocols[1].network_hop, 1e-9);
  EXPECT_EQ(fitted.switch_share, 0);
  EXPECT_EQ(fit_collective_constants({}, start), start);
}

TEST(ConstantsFit, IsTheSameEveryTime) {
  const auto samples = rings(truth(), 0.03);
  const cost::CollectiveOperationConstants start =
      cost::default_collective_constants().of(collective::CollectiveOperation::kAllGather);
  EXPECT_EQ(fit_collective_constants(samples, start), fit_collective_constants(samples, start));
}

TEST(ConstantsFit, LaterProtocolsAreFasterAndBelievedMore) {
  const cost::CollectiveOperationConstants fitted = fit_collective_constants(
      rings(truth(), 0.05),
      cost::default_collective_constants().of(collective::CollectiveOperation::kAllGather));
  for (int i = 1; i < cost::kProtocols; ++i) {
    EXPECT_GE(fitted.protocols[i].rate, fitted.protocols[i - 1].rate);
    EXPECT_LE(fitted.protocols[i].selection, fitted.protocols[i - 1].selection);
  }
}

}  // namespace
}  // namespace stepwright::fit
