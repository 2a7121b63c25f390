#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/plan/state_types.h"
#include "stepwright/step/data_messages.h"
#include "stepwright/step/host_states.h"
#include "stepwright/step/setting.h"

namespace stepwright::step {

/// The share of a position's parameters that one rank's optimizer holds and updates.
struct OptimizerShare {
  std::int64_t elements = 0;  ///< Elements of the share's parameters, padding included.
  /// Elements in matrices that the optimizer treats as matrices.
  std::int64_t matrix_elements = 0;
  std::int64_t numbers = 0;  ///< Numbers kept in addition to moments, as `MatrixSize::numbers`.
  /// Matrices that this rank orthogonalizes; for an optimizer that keeps sums of rows and columns,
  /// the matrices of all its ranks.
  MatrixSize dense, expert;
  /// True if shards of matrices are sent to the ranks that orthogonalize them.
  bool moves_shards = false;
};

/// Returns the optimizer share of one rank. If gradients are not sharded, an orthogonal update
/// keeps whole matrices, each on one rank, the largest assigned first; the share is that of the
/// fullest rank, with matrices of the mean size (NVIDIA/Megatron-LM
/// megatron/core/optimizer/layer_wise_optimizer.py). If gradients are sharded, optimizer states are
/// sharded the same way, and matrices are sent to the ranks that multiply them and back. Without
/// scattered gradients, tables also lie whole on one rank.
OptimizerShare optimizer_share(const plan::Job& job, const plan::Plan& plan, const UnitSize& size);

/// Bytes of a share's moments; `optimizer_state_bytes` adds master copies (`master_copy_bytes`).
std::int64_t moment_bytes(plan::Optimizer optimizer, const plan::StateTypes& types,
                          const OptimizerShare& share);
std::int64_t optimizer_state_bytes(plan::Optimizer optimizer, const plan::StateTypes& types,
                                   const OptimizerShare& share);

/// Bytes that an update moves per element, rounded up: the gradient is read, the master copy and
/// the moments are read and written, and the stored parameter is written if it is a separate copy.
std::int64_t update_bytes_of_element(plan::Optimizer optimizer, const plan::StateTypes& types,
                                     const OptimizerShare& share);

/// Bytes of a share's optimizer states that a plan keeps in host memory: moments, and masters if
/// the plan offloads them.
std::int64_t offloaded_state_bytes(const plan::Job& job, const plan::Plan& plan,
                                   const OptimizerShare& share);

/// Elements of a share that the host updates.
std::int64_t host_updated_elements(const plan::Plan& plan, const OptimizerShare& share);

/// Bytes that the host holds for one rank of a position with parameters of `size`.
HostStates host_states(const plan::Job& job, const plan::Plan& plan, const UnitSize& size);

}  // namespace stepwright::step
