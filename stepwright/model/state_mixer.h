#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::model {

/// Widths inside a recurrent mixer (delta net, Mamba) or convolution, in elements per token, for
/// the whole mixer before tensor parallelism splits it.
struct RecurrentMixerWidths {
  std::int64_t in = 0;           ///< Output width of the mixer's input projection.
  std::int64_t convolution = 0;  ///< Channels of the short causal convolution.
  /// Elements within `in` that hold one number per head: step sizes, strengths, decays.
  std::int64_t scalars = 0;
  std::int64_t out = 0;  ///< Input width of the mixer's output projection.
};

RecurrentMixerWidths state_widths(const RecurrentMixer& mixer, TokenMixer kind);

/// Returns the parameters of a recurrent mixer or short convolution in the order of use, with the
/// names that `layer_parameters` lists, as transformers builds them (models/qwen3_next, mamba2,
/// mamba and lfm2).
std::vector<ModelParameter> recurrent_mixer_parameters(const ModelArchitecture& model,
                                                       TokenMixer kind);

/// Returns the forward FLOPs per token of a recurrent mixer's short convolution.
double convolution_flops_per_token(const RecurrentMixer& mixer, TokenMixer kind);
/// Returns the forward FLOPs per token of a recurrent mixer's scan. Per head, a scan in chunks of c
/// tokens multiplies scores inside the chunk (c state), values by scores (c head_dim), and the
/// state by queries and keys (2 state head_dim). The delta rule adds keys by keys, keys and values
/// by the inverse of that product (2 c state + c head_dim), and the state by the resulting keys
/// (state head_dim). (Mamba-2: arXiv 2405.21060, section 6; gated delta net: arXiv 2412.06464,
/// section 3.3.)
double recurrent_scan_flops_per_token(const RecurrentMixer& mixer, TokenMixer kind);

}  // namespace stepwright::model
