#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/runtime/states/parameter_slice.h"

namespace stepwright::runtime {

/// Initial values of one parameter: norm weights 1, biases 0, matrices normal with deviation 0.02
/// (projections back into the residual stream 0.02 / sqrt(2 layers), as in GPT-2). They depend only
/// on seed, parameter name and element index, so all plans start from the same model.
class InitialParameterValues {
 public:
  /// `name`: name of the whole parameter, from which, with the seed, its random numbers follow.
  /// `layers`: number of layers of the model.
  InitialParameterValues(std::uint64_t seed, std::string_view name,
                         model::ParameterInitialization start, std::int64_t layers);
  /// Returns the initial value of the element at `index` of the whole parameter; 0 for -1
  /// (padding).
  [[nodiscard]] double at(std::int64_t index) const;

 private:
  std::uint64_t key_;
  double mean_ = 0;
  double deviation_ = 0;
};

}  // namespace stepwright::runtime
