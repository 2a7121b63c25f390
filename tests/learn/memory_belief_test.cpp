#include "stepwright/learn/memory_belief.h"

#include <gtest/gtest.h>

namespace stepwright {
namespace {

constexpr MemoryDoubt kDoubt{.mean = 0.03, .deviation = 0.1};

TEST(MemoryBelief, BeforeAnyRunIsThatOfTheStack) {
  const MemoryBelief belief(kDoubt);
  for (const double share : {0.5, 0.8, 0.97, 1.2}) {
    EXPECT_NEAR(belief.fit_probability(share), fit_probability(share, kDoubt), 1e-3) << share;
  }
  EXPECT_NEAR(belief.share_at(0.9), share_at(0.9, kDoubt), 1e-3);
}

TEST(MemoryBelief, ARunThatRanOutMakesAllPlansLessSure) {
  MemoryBelief belief(kDoubt);
  belief.observe(0.8, false);
  EXPECT_LT(belief.fit_probability(0.8), fit_probability(0.8, kDoubt) - 0.1);
  EXPECT_LT(belief.share_at(0.9), share_at(0.9, kDoubt));
}

TEST(MemoryBelief, ARunThatFittedMakesLargerOnesSurer) {
  MemoryBelief belief(kDoubt);
  belief.observe(1.05, true);
  EXPECT_GT(belief.fit_probability(1.0), fit_probability(1.0, kDoubt));
  EXPECT_GT(belief.share_at(0.9), share_at(0.9, kDoubt));
}

TEST(MemoryBelief, WhatWasSureTeachesNothing) {
  MemoryBelief belief(kDoubt);
  belief.observe(0.2, true);
  EXPECT_NEAR(belief.fit_probability(0.95), fit_probability(0.95, kDoubt), 2e-3);
}

}  // namespace
}  // namespace stepwright
