#pragma once

#include <cstdint>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Returns the model FLOPs of one token, forward only, at a sequence length: two per multiply-add
/// with every matrix that the token goes through (the head included, the embedding look-up not),
/// and 2 * length * heads * (head_dim + value_dim) for attention, not halved for the causal mask. A
/// window caps the length.
double forward_flops_per_token(const Architecture& model, std::int64_t length);

/// Returns the FLOPs of forward and backward: three times the forward (PaLM, appendix B; no
/// recomputation). A frozen matrix has no weight gradient and counts twice; a layer below
/// everything that is trained counts its forward only; adapters count like other matrices. NVIDIA
/// counts the same way (4 FLOPs for each frozen parameter and token, 6 for each parameter of an
/// adapter).
double training_flops_per_token(const Architecture& model, std::int64_t length);

/// Returns the part of `training_flops_per_token` that the causal mask removes from attention:
/// almost half of it at full attention; with a window, what the first tokens of the sequence lack
/// of a full window.
double masked_flops_per_token(const Architecture& model, std::int64_t length);

}  // namespace stepwright::model
