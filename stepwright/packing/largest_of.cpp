#include "stepwright/packing/largest_of.h"

#include <algorithm>
#include <cmath>

#include "stepwright/core/normal.h"

namespace stepwright::packing {

double skewed_quantile(double normal, double skewness) {
  // Beyond a skewness of 2 the transformation is not monotonic, and a skewness found from a few
  // documents is not more certain anyway.
  const double skew = std::clamp(skewness, -2.0, 2.0);
  if (std::abs(skew) < 1e-6) return normal;
  const double root = std::max(0.0, 1 + skew * normal / 6 - skew * skew / 36);
  return 2 / skew * (root * root * root - 1);
}

MaximumDistribution maximum_distribution(std::int64_t count, double skewness, double most) {
  constexpr double kReach = 8;
  constexpr double kStep = 0.02;
  MaximumDistribution largest{.mean = 0, .variance = 0, .low = 0, .high = 0};
  double centre = 0;  // change of a single quantity's mean by the bound `most`
  double squares = 0;
  double one_before = 0;
  double before = 0;
  for (double normal = -kReach; normal < kReach; normal += kStep) {
    const double one_below = normal_cdf(normal + kStep);
    const double below = std::pow(one_below, static_cast<double>(count));
    const double value = std::min(most, skewed_quantile(normal + kStep / 2, skewness));
    centre += value * (one_below - one_before);
    largest.mean += value * (below - before);
    squares += value * value * (below - before);
    if (before < 0.1 && below >= 0.1) largest.low = value;
    if (before < 0.9 && below >= 0.9) largest.high = value;
    one_before = one_below;
    before = below;
  }
  largest.variance = squares - largest.mean * largest.mean;
  for (double* figure : {&largest.mean, &largest.low, &largest.high}) *figure -= centre;
  return largest;
}

}  // namespace stepwright::packing
