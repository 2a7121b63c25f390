#include "stepwright/plan/job.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::plan {

DType parameter_storage_type(DType precision) {
  switch (precision) {
    case DType::kFp64:
    case DType::kFp32:
    case DType::kFp16:
    case DType::kBf16: return precision;
    default: return DType::kBf16;
  }
}

DType default_accumulation_type(DType precision) {
  return parameter_storage_type(precision) == DType::kFp64 ? DType::kFp64 : DType::kFp32;
}

std::vector<std::int64_t> layers_per_chunk(const Job& job, const Plan& plan) {
  if (!plan.layers.empty()) return plan.layers;
  return even_layer_split(job.model.layers, model_chunk_placement(plan).model_chunk_count());
}

std::int64_t micro_batches_per_pipeline(const Job& job, const Plan& plan) {
  return job.sequences / plan.parallel.data / plan.micro_batch;
}

namespace {

/// Load of the busiest rank over the mean, without the limit of a capacity.
double unbounded_load(const Job& job, std::int64_t ranks) {
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

/// Share of all rows that experts compute if none takes more than `factor` times the mean;
/// `tokens`: rows routed to each expert.
double share_within(const std::vector<double>& tokens, double factor) {
  const double all = std::accumulate(tokens.begin(), tokens.end(), 0.0);
  const double most = factor * all / static_cast<double>(tokens.size());
  const auto taken = [most](double sum, double rows) { return sum + std::min(rows, most); };
  return std::accumulate(tokens.begin(), tokens.end(), 0.0, taken) / all;
}

}  // namespace

double expert_capacity_row_share(const Job& job) {
  if (!job.model.experts || job.capacity_factor == 0) return 1;
  if (job.pad_to_capacity) return job.capacity_factor;
  if (!job.expert_tokens.empty()) return share_within(job.expert_tokens, job.capacity_factor);
  return std::min(1.0, job.capacity_factor);
}

double capacity_limited_expert_load(const Job& job, double load) {
  if (job.capacity_factor == 0) return load;
  return std::min(load, std::max(1.0, job.capacity_factor / expert_capacity_row_share(job)));
}

double busiest_expert_rank_load(const Job& job, std::int64_t ranks) {
  if (!job.model.experts || ranks == 1) return 1;
  return capacity_limited_expert_load(job, unbounded_load(job, ranks));
}

}  // namespace stepwright::plan
