#include "stepwright/runtime/states/initial_values.h"

#include <cmath>
#include <numbers>

namespace stepwright::runtime {
namespace {

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

/// A number in (0, 1].
double uniform(std::uint64_t bits) { return static_cast<double>((bits >> 11U) + 1) * 0x1.0p-53; }

}  // namespace

std::uint64_t mix(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + (number + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

InitialValues::InitialValues(std::uint64_t seed, std::string_view name, model::Start start,
                             std::int64_t layers)
    : key_(mix(seed, hash_of(name))), mean_(start == model::Start::kOnes ? 1 : 0) {
  if (start == model::Start::kNormal || start == model::Start::kResidual) deviation_ = 0.02;
  if (start == model::Start::kResidual) deviation_ /= std::sqrt(2.0 * static_cast<double>(layers));
}

double InitialValues::at(std::int64_t index) const {
  if (index < 0) return 0;
  if (deviation_ == 0) return mean_;
  const auto number = static_cast<std::uint64_t>(index);
  const double radius = std::sqrt(-2 * std::log(uniform(mix(key_, 2 * number))));
  return deviation_ * radius * std::cos(2 * std::numbers::pi * uniform(mix(key_, 2 * number + 1)));
}

}  // namespace stepwright::runtime
