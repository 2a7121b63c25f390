#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/check/remedies.h"
#include "stepwright/diagnose/diagnosis.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::answers {

/// The prediction of a plan, and the measurements of its run to compare it with.
struct PredictionAndMeasurements {
  simulate::PlanPrediction prediction;
  /// Median step time in seconds over the logged steps without warm-up; nullopt: no log has such
  /// steps.
  std::optional<double> measured_s;
  /// Changes of the plan that need less memory; empty: no device ran out of memory.
  std::vector<check::MemoryRemedyWithFlags> remedies;
};

/// Predicts a plan and adds to the diagnosis of its run the predicted step time and, for a device
/// that ran out of memory: its stage, the predicted peak, tensors of the requested size, and
/// changes that need less memory.
PredictionAndMeasurements add_plan_prediction(const plan::PlannedJob& planned,
                                              diagnose::Diagnosis& diagnosis);

/// Returns the bytes that PyTorch's caching allocator requests from the device for a tensor that
/// fits in no existing segment: 2 MiB for less than 1 MiB, 20 MiB for less than 10 MiB, else
/// rounded up to 2 MiB (c10/cuda/CUDACachingAllocator.cpp, `get_allocation_size`).
double allocator_segment_bytes(double tensor_bytes);

}  // namespace stepwright::answers
