#include "stepwright/plan/job.h"

#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/placement.h"

namespace stepwright {

DType storage_type(DType precision) {
  switch (precision) {
    case DType::kFp64:
    case DType::kFp32:
    case DType::kFp16:
    case DType::kBf16: return precision;
    default: return DType::kBf16;
  }
}

DType default_accumulate(DType precision) {
  return storage_type(precision) == DType::kFp64 ? DType::kFp64 : DType::kFp32;
}

std::vector<std::int64_t> chunk_layers(const Job& job, const Plan& plan) {
  if (!plan.layers.empty()) return plan.layers;
  return even_split(job.model.layers, placement_of(plan).model_chunks());
}

std::int64_t micro_batches(const Job& job, const Plan& plan) {
  return job.sequences / plan.parallel.data / plan.micro_batch;
}

}  // namespace stepwright
