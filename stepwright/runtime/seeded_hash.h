#pragma once

#include <cstdint>

namespace stepwright::runtime {

/// Returns a reproducible hash of a seed and a number (splitmix64).
std::uint64_t mix(std::uint64_t seed, std::uint64_t number);

}  // namespace stepwright::runtime
