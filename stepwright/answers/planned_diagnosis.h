#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/check/remedies.h"
#include "stepwright/diagnose/diagnosis.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::answers {

/// A plan beside what a run of it left.
struct PlannedDiagnosis {
  simulate::Prediction prediction;
  std::optional<double> measured_s;  ///< The median of steady steps; nullopt: no log has one.
  /// Remedies for a device without memory; empty: none ran out.
  std::vector<check::SaidRemedy> remedies;
};

/// Predicts a plan and adds to a diagnosis of its run what the prediction says: the measured step
/// beside the predicted one; of devices without memory the stage, its predicted peak, tensors of
/// the size that was asked for, and changes that need less. Fails as `simulate::predict`.
PlannedDiagnosis add_plan(const plan::PlannedJob& planned, diagnose::Diagnosis& diagnosis);

/// Bytes that PyTorch's caching allocator asks a device for where a tensor needs a new segment:
/// 2 MiB below 1 MiB, 20 MiB below 10 MiB, else whole pieces of 2 MiB
/// (c10/cuda/CUDACachingAllocator.cpp, `get_allocation_size`).
double segment_bytes(double tensor_bytes);

}  // namespace stepwright::answers
