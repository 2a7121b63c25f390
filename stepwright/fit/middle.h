#pragma once

#include <vector>

namespace stepwright::fit {

/// Returns the median; of an even number of values the upper middle one; 0 without values.
double middle_of(std::vector<double> values);

}  // namespace stepwright::fit
