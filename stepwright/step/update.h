#pragma once

#include <vector>

#include "stepwright/step/optimizer_share.h"

namespace stepwright::step {

/// The sum of squared gradients of the `elements` that a rank's optimizer holds.
Operator norm_operator(std::int64_t elements, DType gradient);

/// Operators of an optimizer, without messages, in their order: it makes matrices orthogonal,
/// updates its elements, and has the host update those that lie there: gradients go down,
/// parameters come up. One after the other, as without `overlap_cpu_optimizer_d2h_h2d`
/// (NVIDIA/Megatron-LM megatron/core/optimizer/cpu_offloading/hybrid_optimizer.py).
std::vector<Operator> update_operators(const plan::Job& job, const plan::Plan& plan,
                                       const OptimizerShare& share);

/// Operators that unpack updated parameters which a rank gathered after its update: each tensor's
/// part of each rank is a copy of its own (`Kernels::refresh_by_tensor`). Empty where blocks are
/// gathered before their first use.
std::vector<Operator> unpack_operators(const plan::Job& job, const plan::Plan& plan,
                                       const UnitSize& size);

/// The messages of an update that acts on whole matrices. By which they are made orthogonal: of
/// parts between ranks that share their states, and between tensor ranks that share a matrix; those
/// parts go back before the rest is updated (`Purpose::kReturnMatrices`). By which sums of their
/// rows and columns become those of whole matrices: between tensor ranks those of the uncut
/// dimension, between ranks that share states all, each of which has its part of the moments and
/// needs all of them; and by which each update knows its norm.
std::vector<EndMessage> matrix_messages(const plan::Job& job, const plan::Plan& plan,
                                        const OptimizerShare& share);

}  // namespace stepwright::step
