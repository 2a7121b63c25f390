#pragma once

#include <cstdint>
#include <limits>

namespace stepwright::packing {

/// Returns the quantile of a skewed random quantity (mean 0, deviation 1) that corresponds to the
/// standard normal quantile `normal`: a gamma distribution of this skewness (Pearson III) by the
/// transformation of Wilson and Hilferty (1931).
double skewed_quantile(double normal, double skewness);

/// Mean, variance and quantiles of the largest of several independent random quantities, in units
/// of one quantity's deviation.
struct MaximumDistribution {
  double mean = 0;
  double variance = 1;
  /// Value that the largest quantity is below with a probability of 10 %.
  double low = -1.2815515655446004;
  /// Value that the largest quantity is above with a probability of 10 %.
  double high = 1.2815515655446004;
};
/// Returns the distribution of the largest of `count` (at least 1) independent random quantities
/// with mean 0, deviation 1 and this skewness, none of which can exceed `most`.
MaximumDistribution maximum_distribution(std::int64_t count, double skewness,
                                         double most = std::numeric_limits<double>::infinity());

}  // namespace stepwright::packing
