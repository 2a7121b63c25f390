#pragma once

#include <cstdint>
#include <limits>

namespace stepwright::packing {

/// A quantity of mean 0, deviation 1 and some skewness at the standard normal deviate `normal`: the
/// gamma distribution of that skewness (Pearson III) by the transformation of Wilson and Hilferty
/// (1931).
double skewed(double normal, double skewness);

/// The largest of several such quantities, drawn independently.
struct Largest {
  double mean = 0;
  double variance = 1;
  double low = -1.2815515655446004;  ///< One of ten is below.
  double high = 1.2815515655446004;  ///< One of ten is above.
};
/// `count` at least 1; none is above `most`.
Largest largest_of(std::int64_t count, double skewness,
                   double most = std::numeric_limits<double>::infinity());

}  // namespace stepwright::packing
