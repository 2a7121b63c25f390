#pragma once

#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// Numbers that all optimizer updates of a step share.
struct UpdateRates {
  double learning;
  double norm;   ///< Norm of the gradients over all ranks.
  double scale;  ///< Factor on gradients that clips their norm.
};
UpdateRates update_rates(const RankState& rank);

/// Returns the clipped gradient of a parameter, in the type of the weights that the update changes.
at::Tensor clipped_gradient(const StoredParameter& parameter, const UpdateRates& rates);

}  // namespace stepwright::runtime
