#include "stepwright/memory/fit_probability.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::memory {
namespace {

const MemoryErrorModel kOfLabelled = memory_error_model({.name = "megatron-lm", .version = ""});

TEST(FitProbability, IsAHalfWhereTheNeedIsMostProbablyTheCapacity) {
  EXPECT_NEAR(fit_probability(std::exp(-kOfLabelled.mean), kOfLabelled), 0.5, 1e-12);
}

TEST(FitProbability, FallsWithTheShareAndIsNeverSure) {
  double last = 1;
  for (double share = 0.3; share < 2; share += 0.05) {
    const double now = fit_probability(share, kOfLabelled);
    EXPECT_LE(now, last);
    EXPECT_GE(now, kUnexplainedRuns / 2);
    EXPECT_LE(now, 1 - kUnexplainedRuns / 2);
    last = now;
  }
}

TEST(FitProbability, TheShareAtAProbabilityHasIt) {
  for (const double probability : {plan::kLeastConfidence, 0.75, 0.9, plan::kMostConfidence}) {
    for (const char* framework : {"", "megatron-core", "torchtitan"}) {
      const MemoryErrorModel error_model = memory_error_model({.name = framework, .version = ""});
      const double share = share_at(probability, error_model);
      EXPECT_NEAR(fit_probability(share, error_model), probability, 1e-9);
      EXPECT_LE(share, 1) << framework << " at " << probability;
    }
  }
}

TEST(FitProbability, AStackThatNobodySawIsTheLeastSure) {
  const MemoryErrorModel other = memory_error_model({.name = "torchtitan", .version = ""});
  EXPECT_LT(share_at(0.9, other), share_at(0.9, kOfLabelled));
}

}  // namespace
}  // namespace stepwright::memory
