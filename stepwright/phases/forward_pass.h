#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// Time and memory of running a model forward only, as reference models and log-probabilities in
/// reinforcement learning need it.
struct ForwardPassPrediction {
  double seconds = 0;
  /// Peak memory, in bytes, of a device of each pipeline stage in a forward pass: parameters and
  /// the tensors of one micro-batch.
  std::vector<double> peak_bytes;
};

/// Predicts forward passes over `batches` global batches, one after the other, with a legal plan.
/// If packed documents make micro-batches unequal, waiting for the slowest is included.
ForwardPassPrediction predict_forward_passes(const plan::PlannedJob& planned, std::int64_t batches);

}  // namespace stepwright::phases
