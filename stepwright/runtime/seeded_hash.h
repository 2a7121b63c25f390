#pragma once

#include <cstdint>

namespace stepwright::runtime {

/// Hashes a seed and a number to 64 reproducible pseudo-random bits (splitmix64).
std::uint64_t hash_with_seed(std::uint64_t seed, std::uint64_t number);

}  // namespace stepwright::runtime
