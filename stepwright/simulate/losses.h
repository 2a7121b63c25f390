#pragma once

#include <string_view>
#include <vector>

#include "stepwright/simulate/prediction.h"

namespace stepwright::simulate {

/// Time of a step in which the critical pipeline stage does something other than matrix products
/// and attention at peak FLOP/s (without sparsity); never negative.
struct StepTimeLoss {
  std::string_view key;   ///< Key of the loss in JSON: `exposed_tensor`.
  std::string_view name;  ///< Name of the loss for users: "exposed tensor-parallel messages".
  double seconds = 0;     ///< Seconds per step that are lost.
};

/// Returns the seconds that the matrix products and attention of the critical pipeline stage would
/// take at peak FLOP/s without sparsity. Counts only FLOPs that kernels must compute: no
/// recomputation, and no positions behind the causal mask (which MFU counts).
double useful_computation_s(const PlanPrediction& prediction);

/// Returns the losses of a step, largest first, without zero losses. The losses and
/// `useful_computation_s` add up to the step time.
std::vector<StepTimeLoss> step_time_losses(const PlanPrediction& prediction);

}  // namespace stepwright::simulate
