#include "stepwright/core/normal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace stepwright {
namespace {

TEST(Normal, DistributionIsThatOfTheLibraryWithinTheLastDigits) {
  for (int i = -3700; i <= 900; ++i) {
    const double x = i / 100.0;
    const double expected = 0.5 * std::erfc(-x / std::numbers::sqrt2);
    EXPECT_NEAR(normal_cdf(x) / expected, 1, 1e-15 * (1 + x * x)) << x;
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    EXPECT_NEAR(normal_density(x) / density, 1, 1e-15 * (1 + x * x)) << x;
  }
}

TEST(Normal, DistributionAtTabulatedPlaces) {
  EXPECT_EQ(normal_cdf(0), 0.5);
  EXPECT_NEAR(normal_cdf(1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(normal_cdf(-1.96), 0.024997895148220435, 1e-15);
  EXPECT_EQ(normal_cdf(std::numeric_limits<double>::infinity()), 1);
  EXPECT_EQ(normal_cdf(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_TRUE(std::isnan(normal_cdf(std::nan(""))));
}

TEST(Normal, DistributionGrowsAcrossTheBoundOfItsTwoForms) {
  double before = 0;
  for (int i = 0; i < 2000; ++i) {
    const double now = normal_cdf(-1.51 + i * 1e-5);
    EXPECT_GT(now, before);
    before = now;
  }
}

TEST(Normal, QuantileInvertsTheDistribution) {
  EXPECT_NEAR(normal_quantile(0.9), 1.2815515655446004, 1e-12);
  for (const double x : {-6.0, -1.5, -0.3, 0.0, 1.0, 3.0}) {
    EXPECT_NEAR(normal_quantile(normal_cdf(x)), x, 1e-9);
  }
}

}  // namespace
}  // namespace stepwright
