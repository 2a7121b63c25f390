#pragma once

#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// Learning rate, gradient norm and other numbers that all optimizer updates of a step use.
struct OptimizerUpdateInputs {
  double learning;
  /// Norm of the gradients of all parameters, over all ranks.
  double norm;
  double scale;  ///< Factor by which all gradients are multiplied to clip their global norm.
};
OptimizerUpdateInputs update_rates(const RankState& rank);

/// Returns this rank's part of a parameter's gradient after clipping by the global norm, in the
/// type of the optimizer's weights.
at::Tensor clipped_gradient(const StoredParameter& parameter, const OptimizerUpdateInputs& rates);

}  // namespace stepwright::runtime
