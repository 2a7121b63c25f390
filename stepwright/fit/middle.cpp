#include "stepwright/fit/middle.h"

#include <algorithm>

namespace stepwright::fit {

double upper_median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace stepwright::fit
