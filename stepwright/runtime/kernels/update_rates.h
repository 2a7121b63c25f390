#pragma once

#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// What all updates of a step share.
struct UpdateRates {
  double learning;
  double norm;   ///< Of the gradients, over all ranks.
  double scale;  ///< Of gradients, from clipping.
};
UpdateRates update_rates(const RankState& rank);

/// The gradient that an update takes, in the type of the weights that it updates.
at::Tensor clipped_gradient(const StoredParameter& parameter, const UpdateRates& rates);

}  // namespace stepwright::runtime
