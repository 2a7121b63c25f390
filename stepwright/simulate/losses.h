#pragma once

#include <string_view>
#include <vector>

#include "stepwright/simulate/prediction.h"

namespace stepwright::simulate {

/// A part of the step in which the critical stage does something else than multiply at the dense
/// peak; never below 0.
struct Loss {
  std::string_view key;   ///< Key of the loss, for machines: `exposed_tensor`.
  std::string_view name;  ///< Name of the loss for people: "exposed tensor-parallel messages".
  double seconds = 0;     ///< Seconds of the step that are lost.
};

/// Returns the seconds that the critical stage's matrix products and attention would take at the
/// dense peak. Counts the FLOPs that its kernels compute: without repeats of a forward, and without
/// those behind the causal mask, which MFU counts.
double useful_s(const Prediction& prediction);

/// Returns the losses that keep a step from its useful time: largest first, zero losses left out.
/// Losses and `useful_s` sum to the step.
std::vector<Loss> losses(const Prediction& prediction);

}  // namespace stepwright::simulate
