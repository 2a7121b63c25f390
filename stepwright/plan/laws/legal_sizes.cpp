#include <algorithm>
#include <numeric>

#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::plan {
namespace {

std::vector<std::int64_t> cuts_of(const StridedRanks& group) {
  std::vector<std::int64_t> sizes = divisors(group.size());
  std::erase_if(sizes, [&](std::int64_t size) { return !cut_into_rank_runs(group, size); });
  return sizes;
}

/// Width that tensor parallelism must divide: the common divisor of the MLPs' widths; 0 without
/// MLPs.
std::int64_t dealt_ffn(const model::ModelArchitecture& model) {
  std::int64_t width = model::has_default_ffn_layer(model) ? model.ffn : 0;
  for (const model::LayerClass& layer : model.pattern) width = std::gcd(width, layer.ffn);
  if (model.experts) width = std::gcd(width, model.experts->shared_ffn);
  return width;
}

/// True if tensor ranks may gather the projection of queries, keys and values: equal parts of its
/// columns, and no gates beside the queries, which Megatron-Core 0.16 does not slice
/// (megatron/core/transformer/attention.py, get_query_key_value_tensors).
bool gathers_heads(const Job& job, std::int64_t tensor) {
  const model::ModelArchitecture& model = job.model;
  const std::int64_t columns = model.heads * model.head_dim +
                               model.kv_heads * (model.head_dim + model.value_head_elements());
  return job.kernels.gathered_heads && !model.attention_gate && tensor % model.kv_heads == 0 &&
         columns % tensor == 0;
}

}  // namespace

bool splits_heads_evenly(const Job& job, std::int64_t tensor) {
  const model::ModelArchitecture& model = job.model;
  if (model.heads % tensor != 0) return false;
  const bool even = model.latent || model.kv_heads % tensor == 0;
  if (!even && !gathers_heads(job, tensor)) return false;
  return !model.state_mixer || (model.state_mixer->heads % tensor == 0 &&
                                model.state_mixer->mixer_heads_to_split_evenly() % tensor == 0);
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  for (std::int64_t i = 1; i <= number / i; ++i) {
    if (number % i != 0) continue;
    low.push_back(i);
    if (i != number / i) high.push_back(number / i);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::vector<std::int64_t> legal_tensor_degrees(const Job& job) {
  const std::int64_t dealt = std::gcd(job.model.heads, dealt_ffn(job.model));
  std::vector<std::int64_t> degrees = divisors(std::gcd(dealt, job.cluster.devices()));
  std::erase_if(degrees, [&](std::int64_t tensor) { return !splits_heads_evenly(job, tensor); });
  return degrees;
}

std::vector<std::int64_t> legal_context_degrees(const Job& job) {
  if (job.model.has_sparse_attention_indexer()) return {1};
  std::vector<std::int64_t> sizes = divisors(job.cluster.devices());
  std::erase_if(sizes, [&](std::int64_t c) { return c > 1 && job.length % (2 * c) != 0; });
  return sizes;
}

std::vector<std::int64_t> legal_pipeline_degrees(const Job& job) {
  std::vector<std::int64_t> sizes = divisors(job.cluster.devices());
  std::erase_if(sizes, [&](std::int64_t p) { return p > job.model.layers; });
  return sizes;
}

std::vector<std::int64_t> legal_expert_degrees(const Job& job) {
  if (!job.model.experts) return {1};
  return divisors(std::gcd(job.model.experts->count, job.cluster.devices()));
}

std::vector<std::int64_t> legal_expert_tensor_degrees(const Job& job) {
  if (!job.model.experts) return {1};
  return divisors(std::gcd(job.model.experts->ffn, job.cluster.devices()));
}

std::vector<std::int64_t> legal_micro_batch_sizes(const Job& job, std::int64_t data) {
  if (data < 1 || job.sequences % data != 0) return {};
  return divisors(job.sequences / data);
}

std::vector<std::int64_t> legal_sharding_group_sizes(const Plan& plan) {
  return cuts_of(data_context_rank_factors(grid_axes(plan.parallel, plan.rank_order)));
}

std::vector<std::int64_t> legal_expert_sharding_group_sizes(const Plan& plan) {
  return cuts_of(expert_data_rank_factors(grid_axes(plan.parallel, plan.rank_order)));
}

}  // namespace stepwright::plan
