#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::runtime {

/// Returns rotary frequencies: for each pair of rotated elements of a head, the angle in radians
/// between neighbouring positions. They are `rotary_base` to the power of -i / pairs, scaled by
/// `rotary_scaling` for `length` tokens as in transformers; layers with a window may have an
/// unscaled base of their own (`window_rotary_base`).
std::vector<double> rotary_frequencies(const model::ModelArchitecture& model,
                                       const model::LayerClass& layer, std::int64_t length);
/// Returns the factor by which a layer's rotary sines and cosines are multiplied (YaRN and
/// LongRoPE; otherwise 1).
double rotary_embedding_amplitude(const model::ModelArchitecture& model,
                                  const model::LayerClass& layer);
/// Returns the factor by which attention scores are multiplied: 1 / sqrt(head_dim) or the model's
/// own; larger for latent attention with stretched positions (`yarn_apply_mscale` of transformers'
/// DeepSeek-V3).
double attention_score_scale(const model::ModelArchitecture& model);

}  // namespace stepwright::runtime
