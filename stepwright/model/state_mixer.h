#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::model {

/// Widths of a mixer that carries a state, in elements a token, before tensor parallelism cuts it.
struct StateWidths {
  std::int64_t in = 0;           ///< Width of the projection into it.
  std::int64_t convolution = 0;  ///< Channels of the convolution.
  std::int64_t scalars = 0;      ///< Step sizes, strengths and decays in `in`, one for each head.
  std::int64_t out = 0;          ///< Width of the projection out of it.
};

StateWidths state_widths(const StateMixer& mixer, Mixer kind);

/// Parameters of a state mixer, in the order of use, by the names in `layer_parameters`. Sources:
/// gated delta net, Mamba-2, Mamba and short convolution as transformers has them
/// (models/qwen3_next, mamba2, mamba and lfm2).
std::vector<Parameter> state_mixer_parameters(const Architecture& model, Mixer kind);

/// FLOPs of a convolution for one token, and of the scan of a forward. A scan in chunks of c tokens
/// multiplies, for each head, scores inside the chunk (c state), values by them (c head_dim), and
/// the state by queries and keys (2 state head_dim). The delta rule multiplies keys by keys, keys
/// and values by the inverse of that (2 c state + c head_dim), and the state by those keys (state
/// head_dim) beside. (Mamba-2: arXiv 2405.21060, section 6; gated delta net: arXiv 2412.06464,
/// section 3.3.)
double convolution_flops_per_token(const StateMixer& mixer, Mixer kind);
double scan_flops_per_token(const StateMixer& mixer, Mixer kind);

}  // namespace stepwright::model
