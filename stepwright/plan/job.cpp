#include "stepwright/plan/job.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::plan {

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

double busiest_load(const Job& job, std::int64_t ranks) {
  if (!job.model.experts) return 1;
  const std::vector<double>& tokens = job.expert_tokens;
  if (tokens.empty()) return job.imbalance;
  const std::int64_t each = std::max<std::int64_t>(1, std::ssize(tokens) / ranks);
  double most = 0;
  double all = 0;
  for (std::int64_t first = 0; first < std::ssize(tokens); first += each) {
    const auto begin = tokens.begin() + first;
    const double sum =
        std::accumulate(begin, begin + std::min(each, std::ssize(tokens) - first), 0.0);
    most = std::max(most, sum);
    all += sum;
  }
  return std::max(1.0, most * static_cast<double>(ranks) / all);
}

}  // namespace stepwright::plan
