#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// Forwards of a model of which nothing is trained, as log-probabilities need them: the plan's
/// program with nothing else in its schedule (`forwards_of`).
struct ForwardPass {
  double seconds = 0;
  /// By pipeline position: its parameters, and the tensors of one micro-batch.
  std::vector<double> peak_bytes;
};

/// Forwards of so many batches of a legal plan one behind the other. Where documents make
/// micro-batches unequal the waits are in it (`UnevenSteps`).
ForwardPass forward_pass(const plan::PlannedJob& planned, std::int64_t batches);

}  // namespace stepwright::phases
