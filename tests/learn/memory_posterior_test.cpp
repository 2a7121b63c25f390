#include "stepwright/learn/memory_posterior.h"

#include <gtest/gtest.h>

namespace stepwright::learn {
namespace {

constexpr memory::MemoryErrorModel kDoubt{.mean = 0.03, .deviation = 0.1};

TEST(MemoryErrorPosterior, BeforeAnyRunIsThatOfTheStack) {
  const MemoryErrorPosterior distribution(kDoubt);
  for (const double share : {0.5, 0.8, 0.97, 1.2}) {
    EXPECT_NEAR(distribution.memory_fit_probability(share),
                memory::memory_fit_probability(share, kDoubt), 1e-3)
        << share;
  }
  EXPECT_NEAR(distribution.predicted_peak_share_at_probability(0.9),
              memory::predicted_peak_share_at_probability(0.9, kDoubt), 1e-3);
}

TEST(MemoryErrorPosterior, ARunThatRanOutMakesAllPlansLessSure) {
  MemoryErrorPosterior distribution(kDoubt);
  distribution.update_from_memory_outcome(0.8, false);
  EXPECT_LT(distribution.memory_fit_probability(0.8),
            memory::memory_fit_probability(0.8, kDoubt) - 0.1);
  EXPECT_LT(distribution.predicted_peak_share_at_probability(0.9),
            memory::predicted_peak_share_at_probability(0.9, kDoubt));
}

TEST(MemoryErrorPosterior, ARunThatFittedMakesLargerOnesSurer) {
  MemoryErrorPosterior distribution(kDoubt);
  distribution.update_from_memory_outcome(1.05, true);
  EXPECT_GT(distribution.memory_fit_probability(1.0), memory::memory_fit_probability(1.0, kDoubt));
  EXPECT_GT(distribution.predicted_peak_share_at_probability(0.9),
            memory::predicted_peak_share_at_probability(0.9, kDoubt));
}

TEST(MemoryErrorPosterior, WhatWasSureTeachesNothing) {
  MemoryErrorPosterior distribution(kDoubt);
  distribution.update_from_memory_outcome(0.2, true);
  EXPECT_NEAR(distribution.memory_fit_probability(0.95),
              memory::memory_fit_probability(0.95, kDoubt), 2e-3);
}

}  // namespace
}  // namespace stepwright::learn
