#pragma once

#include <cstdint>

namespace stepwright {

/// The mean of the largest of so many independent draws from the standard normal distribution: how
/// many standard deviations the slowest device is slower than the mean one. 0 of one, 1.27 of six.
double expected_largest(std::int64_t draws);

}  // namespace stepwright
