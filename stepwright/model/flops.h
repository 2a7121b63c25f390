#pragma once

#include <cstdint>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Returns the forward FLOPs of one token at sequence length `length`: 2 per multiply-add of every
/// matrix that the token meets (head included, embedding look-up not), plus 2 length heads
/// (head_dim + value_dim) for attention, not halved for the causal mask. An attention window caps
/// the length.
double forward_flops_per_token(const ModelArchitecture& model, std::int64_t length);

/// Returns the forward plus backward FLOPs of one token: three times the forward, without
/// recomputation (PaLM, appendix B). Frozen matrices have no weight gradient and count twice;
/// layers below everything trained count once. NVIDIA counts adapters alike (4 FLOPs per frozen
/// parameter and token, 6 per adapter parameter).
double training_flops_per_token(const ModelArchitecture& model, std::int64_t length);

/// Returns how many FLOPs per token of `training_flops_per_token` a causal mask saves: almost half
/// of full attention; with a window, those of keys that the first tokens of a sequence lack.
double flops_saved_by_causal_mask(const ModelArchitecture& model, std::int64_t length);

}  // namespace stepwright::model
