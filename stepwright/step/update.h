#pragma once

#include <vector>

#include "stepwright/step/optimizer_share.h"

namespace stepwright::step {

/// Returns the operator that computes the sum of squares of the `elements` gradients that one
/// rank's optimizer holds.
Operator gradient_norm_operator(std::int64_t elements, DType gradient);

/// Returns the operators of an optimizer's update, without messages, in their order: the device
/// orthogonalizes matrices (Muon) and updates its elements; then gradients of host-updated elements
/// go to the host, the host updates the elements, and the parameters come back. The device and the
/// host work one after the other, as without `overlap_cpu_optimizer_d2h_h2d` (NVIDIA/Megatron-LM
/// megatron/core/optimizer/cpu_offloading/hybrid_optimizer.py).
std::vector<Operator> update_operators(const plan::Job& job, const plan::Plan& plan,
                                       const OptimizerShare& share);

/// Returns the operators that unpack updated parameters gathered after an update: one copy for each
/// tensor and each rank's shard of it (`FrameworkKernels::refresh_by_tensor`). Empty if updated
/// blocks are gathered before their first use instead.
std::vector<Operator> parameter_unpack_operators(const plan::Job& job, const plan::Plan& plan,
                                                 const ModelBlockParameterCounts& size);

/// Returns the messages of an optimizer that updates whole matrices (Muon, Adafactor). An
/// orthogonal update (Muon) sends shards between the ranks that share states, sends matrices or
/// products between the tensor ranks that share a matrix, and returns the shards before the other
/// elements are updated. An update with sums of rows and columns (Adafactor) completes these sums:
/// tensor ranks add the sums over the dimension that they split; ranks that share states
/// reduce-scatter all sums, update their shard of the moments and gather all moments. Then the
/// squared norm of each update is summed.
std::vector<StepEndMessage> matrix_optimizer_messages(const plan::Job& job, const plan::Plan& plan,
                                                      const OptimizerShare& share);

}  // namespace stepwright::step
