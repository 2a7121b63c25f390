#pragma once

#include <string_view>
#include <vector>

#include "stepwright/simulate/prediction.h"

namespace stepwright::simulate {

/// A part of the step in which the critical stage does less than the model's FLOPs at the dense
/// peak.
struct Loss {
  std::string_view key;   ///< For machines, as `exposed_tensor`.
  std::string_view name;  ///< For people, as "exposed tensor-parallel messages".
  double seconds = 0;     ///< Of the step.
};

/// The losses that keep a step from its ideal, the time of the model's FLOPs at the dense peak: the
/// largest first, those of zero left out. They sum to (1 - MFU) of the step. What products and
/// attention lose is what the critical stage takes for them beyond the ideal, so that layers which
/// it has more than other stages count there; it is negative where a kernel skips what the FLOPs
/// count, as the masked half of attention.
std::vector<Loss> losses(const Prediction& prediction);

}  // namespace stepwright::simulate
