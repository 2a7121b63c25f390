#pragma once

#include <vector>

namespace stepwright::fit {

/// The middle value, the upper one of an even number; 0 without any.
double middle_of(std::vector<double> values);

}  // namespace stepwright::fit
