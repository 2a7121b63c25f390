#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/plan/state_types.h"
#include "stepwright/step/data_messages.h"
#include "stepwright/step/host_states.h"
#include "stepwright/step/setting.h"

namespace stepwright::step {

/// The share of a pipeline stage's parameters that one rank's optimizer holds and updates.
struct OptimizerShare {
  /// Number of parameter elements that one rank's optimizer updates, padding included.
  std::int64_t elements = 0;
  /// Parameter elements of this rank's share that the optimizer updates as matrices (Muon,
  /// Adafactor), not element by element.
  std::int64_t matrix_elements = 0;
  /// Number of values that the optimizer keeps in addition to element-wise moments: sums of rows
  /// and columns, or scales of quantized moments.
  std::int64_t numbers = 0;
  /// Dense and expert matrices that this rank orthogonalizes (Muon); for an optimizer that keeps
  /// sums of rows and columns (Adafactor), the matrices of all ranks that share the states.
  OptimizerMatrixSizes dense, expert;
  /// True if shards of matrices are sent to the ranks that orthogonalize them (Muon).
  bool moves_shards = false;
};

/// Returns what one rank's optimizer holds and updates of a pipeline stage's parameters. If
/// gradients are not sharded, an orthogonal update (Muon) keeps whole matrices, each on one rank,
/// the largest assigned first; the share is that of the fullest rank, with matrices of the mean
/// size (NVIDIA/Megatron-LM megatron/core/optimizer/layer_wise_optimizer.py). If gradients are
/// sharded, optimizer states are sharded in the same way, and matrices are sent to the ranks that
/// multiply them and back. Without scattered gradients, vocabulary tables also lie whole on one
/// rank.
OptimizerShare optimizer_share(const plan::Job& job, const plan::Plan& plan,
                               const ModelBlockParameterCounts& size);

/// Returns the bytes of the optimizer moments (such as Adam's two) in one rank's optimizer share.
std::int64_t optimizer_moment_bytes(plan::Optimizer optimizer, const plan::StateDataTypes& types,
                                    const OptimizerShare& share);
/// Returns the bytes of one rank's optimizer share: moments and master copies of parameters.
std::int64_t optimizer_state_bytes(plan::Optimizer optimizer, const plan::StateDataTypes& types,
                                   const OptimizerShare& share);

/// Returns the bytes that an optimizer update moves per parameter element, rounded up: the gradient
/// is read, the master copy and the moments are read and written, and the stored parameter is
/// written if it is a separate copy.
std::int64_t optimizer_update_bytes_per_element(plan::Optimizer optimizer,
                                                const plan::StateDataTypes& types,
                                                const OptimizerShare& share);

/// Returns the bytes of one rank's optimizer states that a plan keeps in host memory: moments, and
/// master copies if the plan offloads them.
std::int64_t offloaded_state_bytes(const plan::Job& job, const plan::Plan& plan,
                                   const OptimizerShare& share);

/// Returns the number of parameter elements, of one rank's optimizer share, that the host's CPUs
/// update.
std::int64_t host_updated_elements(const plan::Plan& plan, const OptimizerShare& share);

/// Returns the bytes of model states in host memory for one rank of a pipeline stage with the
/// parameter counts `size`.
HostModelStateBytes host_model_state_bytes(const plan::Job& job, const plan::Plan& plan,
                                           const ModelBlockParameterCounts& size);

}  // namespace stepwright::step
