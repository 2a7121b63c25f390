#include "stepwright/packing/largest_of.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace stepwright::packing {
namespace {

TEST(LargestOf, NormalsIsThePublishedOrderStatistic) {
  // Expected largest of n standard normals (Harter 1961).
  EXPECT_NEAR(maximum_distribution(1, 0).mean, 0, 1e-6);
  EXPECT_NEAR(maximum_distribution(2, 0).mean, 0.56419, 1e-3);
  EXPECT_NEAR(maximum_distribution(8, 0).mean, 1.42360, 1e-3);
  EXPECT_NEAR(maximum_distribution(100, 0).mean, 2.50759, 1e-3);
  EXPECT_NEAR(maximum_distribution(1, 0).variance, 1, 1e-3);
  EXPECT_NEAR(maximum_distribution(1, 0).high, 1.2816, 0.02);
}

TEST(LargestOf, ASkewedOneHasItsMoments) {
  double mean = 0;
  double square = 0;
  double cube = 0;
  for (double z = -8; z < 8; z += 0.001) {
    const double share = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0)) * 0.001;
    const double value = skewed_quantile(z, 1);
    mean += value * share;
    square += value * value * share;
    cube += value * value * value * share;
  }
  EXPECT_NEAR(mean, 0, 0.01);
  EXPECT_NEAR(square, 1, 0.02);
  EXPECT_NEAR(cube, 1, 0.05);
}

TEST(LargestOf, SumsOfDrawnQuantitiesIsNearToDraws) {
  // Sums of 8 exponentials: skewness 2 / sqrt(8).
  std::mt19937_64 random(3);
  std::exponential_distribution<double> draw;
  for (const int ranks : {4, 64}) {
    double drawn = 0;
    constexpr int kSteps = 4000;
    for (int step = 0; step < kSteps; ++step) {
      double most = -1e9;
      for (int rank = 0; rank < ranks; ++rank) {
        double sum = 0;
        for (int i = 0; i < 8; ++i) sum += draw(random) - 1;
        most = std::max(most, sum / std::sqrt(8.0));
      }
      drawn += most / kSteps;
    }
    EXPECT_NEAR(maximum_distribution(ranks, 2 / std::sqrt(8.0)).mean / drawn, 1, 0.03) << ranks;
  }
}

}  // namespace
}  // namespace stepwright::packing
