#pragma once

#include <cstdint>

#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// Returns the mean number of elements in the gradient buckets of PyTorch's DistributedDataParallel
/// for a model's layers, split over `tensor` ranks. A bucket closes with the weight that brings it
/// to `least` elements (pytorch/pytorch torch/csrc/distributed/c10d/reducer.cpp,
/// compute_bucket_assignment_by_size).
std::int64_t mean_filled_bucket_elements(const model::ModelArchitecture& model, std::int64_t tensor,
                                         std::int64_t least);

}  // namespace stepwright::plan
