#pragma once

#include <cstdint>
#include <limits>

namespace stepwright::packing {

/// Returns the value of a random quantity (mean 0, deviation 1, this skewness) that corresponds to
/// the standard normal deviate `normal`: the gamma distribution of that skewness (Pearson III) by
/// the transformation of Wilson and Hilferty (1931).
double skewed_quantile(double normal, double skewness);

/// Distribution of the largest of several such quantities, drawn independently.
struct Largest {
  double mean = 0;
  double variance = 1;
  double low = -1.2815515655446004;  ///< Value that one of ten is below.
  double high = 1.2815515655446004;  ///< Value that one of ten is above.
};
/// Returns the distribution of the largest of `count` (at least 1) quantities, none of which is
/// above `most`.
Largest largest_of(std::int64_t count, double skewness,
                   double most = std::numeric_limits<double>::infinity());

}  // namespace stepwright::packing
