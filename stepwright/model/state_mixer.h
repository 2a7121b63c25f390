#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::model {

/// Widths of a mixer that carries a state, in elements per token, before tensor parallelism cuts
/// it.
struct StateWidths {
  std::int64_t in = 0;           ///< Output width of the mixer's input projection.
  std::int64_t convolution = 0;  ///< Channels of the causal convolution.
  /// Step sizes, strengths and decays within `in`, one of each kind per head.
  std::int64_t scalars = 0;
  std::int64_t out = 0;  ///< Input width of the mixer's output projection.
};

StateWidths state_widths(const StateMixer& mixer, Mixer kind);

/// Returns the parameters of a state mixer, in the order of use, with the names that
/// `layer_parameters` lists. Sources: gated delta net, Mamba-2, Mamba and short convolution as
/// transformers builds them (models/qwen3_next, mamba2, mamba and lfm2).
std::vector<Parameter> state_mixer_parameters(const Architecture& model, Mixer kind);

/// Return the forward FLOPs per token of the mixer's convolution and of its scan. For each head, a
/// scan in chunks of c tokens multiplies scores inside the chunk (c state), values by the scores (c
/// head_dim), and the state by queries and keys (2 state head_dim).
/// The delta rule also multiplies keys by keys, keys and values by the inverse of that product (2 c
/// state + c head_dim), and the state by the resulting keys (state head_dim). (Mamba-2: arXiv
/// 2405.21060, section 6; gated delta net: arXiv 2412.06464, section 3.3.)
double convolution_flops_per_token(const StateMixer& mixer, Mixer kind);
double scan_flops_per_token(const StateMixer& mixer, Mixer kind);

}  // namespace stepwright::model
