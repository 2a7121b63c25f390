#include "stepwright/memory/fit_probability.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::memory {
namespace {

const MemoryErrorModel kOfLabelled =
    memory_prediction_error_model({.name = "megatron-lm", .version = ""});

TEST(FitProbability, IsAHalfWhereTheNeedIsMostProbablyTheCapacity) {
  EXPECT_NEAR(memory_fit_probability(std::exp(-kOfLabelled.mean), kOfLabelled), 0.5, 1e-12);
}

TEST(FitProbability, FallsWithTheShareAndIsNeverSure) {
  double last = 1;
  for (double share = 0.3; share < 2; share += 0.05) {
    const double now = memory_fit_probability(share, kOfLabelled);
    EXPECT_LE(now, last);
    EXPECT_GE(now, kUnexplainedMemoryOutcomeShare / 2);
    EXPECT_LE(now, 1 - kUnexplainedMemoryOutcomeShare / 2);
    last = now;
  }
}

TEST(FitProbability, TheShareAtAProbabilityHasIt) {
  for (const double probability :
       {plan::kMinMemoryFitConfidence, 0.75, 0.9, plan::kMaxMemoryFitConfidence}) {
    for (const char* framework : {"", "megatron-core", "torchtitan"}) {
      const MemoryErrorModel error_model =
          memory_prediction_error_model({.name = framework, .version = ""});
      const double share = predicted_peak_share_at_probability(probability, error_model);
      EXPECT_NEAR(memory_fit_probability(share, error_model), probability, 1e-9);
      EXPECT_LE(share, 1) << framework << " at " << probability;
    }
  }
}

TEST(FitProbability, AStackThatNobodySawIsTheLeastSure) {
  const MemoryErrorModel other =
      memory_prediction_error_model({.name = "torchtitan", .version = ""});
  EXPECT_LT(predicted_peak_share_at_probability(0.9, other),
            predicted_peak_share_at_probability(0.9, kOfLabelled));
}

}  // namespace
}  // namespace stepwright::memory
