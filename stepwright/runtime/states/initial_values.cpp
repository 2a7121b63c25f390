#include "stepwright/runtime/states/initial_values.h"

#include <cmath>
#include <numbers>

#include "stepwright/core/fnv.h"
#include "stepwright/runtime/seeded_hash.h"

namespace stepwright::runtime {
namespace {

/// Returns a number in (0, 1] from random bits.
double uniform(std::uint64_t bits) { return static_cast<double>((bits >> 11U) + 1) * 0x1.0p-53; }

}  // namespace

InitialParameterValues::InitialParameterValues(std::uint64_t seed, std::string_view name,
                                               model::ParameterInitialization start,
                                               std::int64_t layers)
    : key_(hash_with_seed(seed, fnv1a(name))),
      mean_(start == model::ParameterInitialization::kOnes ? 1 : 0) {
  if (start == model::ParameterInitialization::kNormal ||
      start == model::ParameterInitialization::kResidual)
    deviation_ = 0.02;
  if (start == model::ParameterInitialization::kResidual)
    deviation_ /= std::sqrt(2.0 * static_cast<double>(layers));
}

double InitialParameterValues::at(std::int64_t index) const {
  if (index < 0) return 0;
  if (deviation_ == 0) return mean_;
  const auto number = static_cast<std::uint64_t>(index);
  const double radius = std::sqrt(-2 * std::log(uniform(hash_with_seed(key_, 2 * number))));
  return deviation_ * radius *
         std::cos(2 * std::numbers::pi * uniform(hash_with_seed(key_, 2 * number + 1)));
}

}  // namespace stepwright::runtime
