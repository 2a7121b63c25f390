#pragma once

#include <cstdint>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Model FLOPs of one token, forward only, at a sequence length: two per multiply-add of every
/// matrix that the token meets (head included, embedding look-up not), and attention
/// 2 * length * heads * (head_dim + value_dim) with the causal mask not halved; windows cap length.
double forward_flops_per_token(const Architecture& model, std::int64_t length);

/// Forward and backward: three times the forward (PaLM, appendix B; no recomputation). A frozen
/// matrix has no weight gradient and counts twice, and of what lies below everything that is
/// trained only the forward counts; adapters count as what they are. So NVIDIA counts, too (4 FLOPs
/// for each frozen parameter and token, 6 for each of an adapter).
double training_flops_per_token(const Architecture& model, std::int64_t length);

/// FLOPs of `training_flops_per_token` that attention has behind the causal mask: a token sees half
/// of the sequence in the mean, of a window all but its first tokens.
double masked_flops_per_token(const Architecture& model, std::int64_t length);

}  // namespace stepwright::model
