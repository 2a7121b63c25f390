#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright {

/// Radians by which the pairs of a head's rotated elements turn from one position to the next:
/// `rotary_base` to the power of -i / pairs, scaled as `rotary_scaling` says for sequences of so
/// many tokens (linear, llama3 and dynamic as transformers computes them; other kinds count as none
/// and are not executed). Layers with a window may have a base of their own (`window_rotary_base`),
/// which is not scaled.
std::vector<double> rotary_frequencies(const Architecture& model, const LayerClass& layer,
                                       std::int64_t length);

}  // namespace stepwright
