#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/plan/state_types.h"
#include "stepwright/step/data_messages.h"
#include "stepwright/step/host_states.h"
#include "stepwright/step/setting.h"

namespace stepwright::step {

/// Parameters of a position that one rank's optimizer holds and updates.
struct OptimizerShare {
  std::int64_t elements = 0;  ///< Elements of parameters, padding included.
  /// Elements in matrices that the optimizer treats as matrices.
  std::int64_t matrix_elements = 0;
  std::int64_t numbers = 0;  ///< Numbers kept beside moments, as `MatrixSize::numbers`.
  /// The matrices that it makes orthogonal; of an optimizer that keeps sums all of its ranks'.
  MatrixSize dense, expert;
  bool moves_shards = false;  ///< Parts of matrices go to the ranks that make them orthogonal.
};

/// The share of a plan's ranks. Where gradients stay whole, an orthogonal update's states are those
/// of whole matrices, each on one rank, the largest dealt out first: a rank has as many as the
/// fullest, of the mean size (NVIDIA/Megatron-LM megatron/core/optimizer/layer_wise_optimizer.py).
/// Where gradients are split, states are split as they are, and matrices go to such ranks and back
/// for the products. Without scattered gradients tables lie whole on one rank, too.
OptimizerShare optimizer_share(const plan::Job& job, const plan::Plan& plan, const UnitSize& size);

/// Bytes of moments, and with master copies (`master_copy_bytes`) of all states.
std::int64_t moment_bytes(plan::Optimizer optimizer, const plan::StateTypes& types,
                          const OptimizerShare& share);
std::int64_t optimizer_state_bytes(plan::Optimizer optimizer, const plan::StateTypes& types,
                                   const OptimizerShare& share);

/// Bytes that an update moves, over its elements, rounded up: the gradient read; the master copy
/// and moments read and written; the stored parameter written when it is another one.
std::int64_t update_bytes_of_element(plan::Optimizer optimizer, const plan::StateTypes& types,
                                     const OptimizerShare& share);

/// The states that a plan leaves to the host, of those of a share: moments, with masters or not.
std::int64_t moved_bytes(const plan::Job& job, const plan::Plan& plan, const OptimizerShare& share);

/// The elements of a share whose update the host does.
std::int64_t moved_elements(const plan::Plan& plan, const OptimizerShare& share);

/// Bytes that the host holds for a rank of a position of this size.
HostStates host_states(const plan::Job& job, const plan::Plan& plan, const UnitSize& size);

}  // namespace stepwright::step
