#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/check/remedies.h"
#include "stepwright/diagnose/diagnosis.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::answers {

/// A prediction of a plan beside the measurements in the files of its run.
struct PlannedDiagnosis {
  simulate::Prediction prediction;
  /// Median seconds of measured steady steps; nullopt: no log has any.
  std::optional<double> measured_s;
  /// Changes that need less memory; empty: no device ran out of memory.
  std::vector<check::RemedyWithFlags> remedies;
};

/// Predicts a plan and adds the prediction to the diagnosis of its run: the predicted beside the
/// measured step, and for a device that ran out of memory its stage, the predicted peak, tensors of
/// the requested size, and changes that need less memory. Fails as `simulate::predict`.
PlannedDiagnosis add_plan_prediction(const plan::PlannedJob& planned,
                                     diagnose::Diagnosis& diagnosis);

/// Returns the bytes that PyTorch's caching allocator requests from a device for a tensor that
/// needs a new segment: 2 MiB below 1 MiB, 20 MiB below 10 MiB, else a multiple of 2 MiB
/// (c10/cuda/CUDACachingAllocator.cpp, `get_allocation_size`).
double segment_bytes(double tensor_bytes);

}  // namespace stepwright::answers
