#pragma once

#include <vector>

namespace stepwright::fit {

/// Returns the median; of an even number of values the upper middle one; 0 without values.
double upper_median(std::vector<double> values);

}  // namespace stepwright::fit
