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

InitialValues::InitialValues(std::uint64_t seed, std::string_view name, model::ParameterInit start,
                             std::int64_t layers)
    : key_(mix(seed, fnv1a(name))), mean_(start == model::ParameterInit::kOnes ? 1 : 0) {
  if (start == model::ParameterInit::kNormal || start == model::ParameterInit::kResidual)
    deviation_ = 0.02;
  if (start == model::ParameterInit::kResidual)
    deviation_ /= std::sqrt(2.0 * static_cast<double>(layers));
}

double InitialValues::at(std::int64_t index) const {
  if (index < 0) return 0;
  if (deviation_ == 0) return mean_;
  const auto number = static_cast<std::uint64_t>(index);
  const double radius = std::sqrt(-2 * std::log(uniform(mix(key_, 2 * number))));
  return deviation_ * radius * std::cos(2 * std::numbers::pi * uniform(mix(key_, 2 * number + 1)));
}

}  // namespace stepwright::runtime
