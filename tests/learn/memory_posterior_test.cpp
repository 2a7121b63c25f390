#include "stepwright/learn/memory_posterior.h"

#include <gtest/gtest.h>

namespace stepwright::learn {
namespace {

constexpr memory::MemoryErrorModel kDoubt{.mean = 0.03, .deviation = 0.1};

TEST(MemoryPosterior, BeforeAnyRunIsThatOfTheStack) {
  const MemoryPosterior distribution(kDoubt);
  for (const double share : {0.5, 0.8, 0.97, 1.2}) {
    EXPECT_NEAR(distribution.fit_probability(share), memory::fit_probability(share, kDoubt), 1e-3)
        << share;
  }
  EXPECT_NEAR(distribution.share_at(0.9), memory::share_at(0.9, kDoubt), 1e-3);
}

TEST(MemoryPosterior, ARunThatRanOutMakesAllPlansLessSure) {
  MemoryPosterior distribution(kDoubt);
  distribution.observe(0.8, false);
  EXPECT_LT(distribution.fit_probability(0.8), memory::fit_probability(0.8, kDoubt) - 0.1);
  EXPECT_LT(distribution.share_at(0.9), memory::share_at(0.9, kDoubt));
}

TEST(MemoryPosterior, ARunThatFittedMakesLargerOnesSurer) {
  MemoryPosterior distribution(kDoubt);
  distribution.observe(1.05, true);
  EXPECT_GT(distribution.fit_probability(1.0), memory::fit_probability(1.0, kDoubt));
  EXPECT_GT(distribution.share_at(0.9), memory::share_at(0.9, kDoubt));
}

TEST(MemoryPosterior, WhatWasSureTeachesNothing) {
  MemoryPosterior distribution(kDoubt);
  distribution.observe(0.2, true);
  EXPECT_NEAR(distribution.fit_probability(0.95), memory::fit_probability(0.95, kDoubt), 2e-3);
}

}  // namespace
}  // namespace stepwright::learn
