#pragma once

#include <vector>

namespace stepwright::fit {

/// Returns the median of values: the upper middle one if their number is even; 0 without values.
double upper_median(std::vector<double> values);

}  // namespace stepwright::fit
