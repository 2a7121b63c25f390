#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::runtime {

/// Returns the angles, in radians, by which each pair of a head's rotated elements turns from one
/// position to the next: `rotary_base` to the power of -i / pairs, scaled as `rotary_scaling` says
/// for sequences of `length` tokens, as transformers computes it (`other` counts as no scaling;
/// runs with it are refused). Layers with a window may have a base of their own
/// (`window_rotary_base`), which is not scaled.
std::vector<double> rotary_frequencies(const model::Architecture& model,
                                       const model::LayerClass& layer, std::int64_t length);
/// Returns the factor on the sines and cosines of a layer.
double rotary_amplitude(const model::Architecture& model, const model::LayerClass& layer);
/// Returns the factor on attention scores; for latent attention it is larger where positions are
/// stretched (`yarn_apply_mscale` of transformers' DeepSeek-V3).
double score_scale(const model::Architecture& model);

}  // namespace stepwright::runtime
