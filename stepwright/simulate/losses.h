#pragma once

#include <string_view>
#include <vector>

#include "stepwright/simulate/prediction.h"

namespace stepwright::simulate {

/// A part of the step in which the critical stage does less than multiply at the dense peak; never
/// below 0.
struct Loss {
  std::string_view key;   ///< Key for machines: `exposed_tensor`.
  std::string_view name;  ///< Name for people: "exposed tensor-parallel messages".
  double seconds = 0;     ///< Seconds lost of the step.
};

/// Seconds of the critical stage's matrix products and attention at the dense peak, as its kernels
/// compute them: without repeats of a forward, and without what lies behind the causal mask, which
/// MFU counts.
double useful_s(const Prediction& prediction);

/// The losses that keep a step from its useful time: the largest first, those of zero left out.
/// With `useful_s` they sum to the step.
std::vector<Loss> losses(const Prediction& prediction);

}  // namespace stepwright::simulate
