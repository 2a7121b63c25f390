#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// The result of forward-only passes of a model, as log-probabilities need them: the plan's program
/// with only forwards in its schedule (`forwards_of`).
struct ForwardPass {
  double seconds = 0;
  /// Peak bytes of each pipeline position: its parameters and the tensors of one micro-batch.
  std::vector<double> peak_bytes;
};

/// Returns the forwards of `batches` batches of a legal plan, one after the other. If documents
/// make micro-batches unequal, their waits are included (`UnevenSteps`).
ForwardPass forward_pass(const plan::PlannedJob& planned, std::int64_t batches);

}  // namespace stepwright::phases
