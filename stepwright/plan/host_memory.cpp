#include "stepwright/plan/host_memory.h"

#include <algorithm>
#include <vector>

#include "stepwright/model/layer_class_index.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright::plan {
namespace {

/// Parameters in elements of the storage type, by the way they are sharded.
struct Elements {
  bool with_frozen = false;
  /// Storage-type elements with the bytes of one element of a quantised base.
  double of_narrow = 1;
  double dense = 0;
  double expert = 0;

  Elements& operator-=(const Elements& other) {
    dense -= other.dense;
    expert -= other.expert;
    return *this;
  }
  void add(const std::vector<model::ModelParameter>& parameters, double times) {
    for (const model::ModelParameter& parameter : parameters) {
      if (!parameter.trained || (parameter.frozen && !with_frozen)) continue;
      const double each = parameter.narrow ? of_narrow : 1;
      (parameter.expert ? expert : dense) +=
          times * each * static_cast<double>(parameter.elements());
    }
  }
};

Elements elements_of(const Job& job, bool with_frozen) {
  const model::ModelArchitecture& model = job.model;
  Elements sum{.with_frozen = with_frozen};
  if (model.adapters && model.adapters->quantised()) {
    sum.of_narrow =
        static_cast<double>(element_size_centibits(model.adapters->base)) /
        static_cast<double>(element_size_centibits(parameter_storage_type(job.precision)));
  }
  const model::LayerClassIndex order = model::layer_order(model);
  for (std::size_t i = 0; i < order.classes.size(); ++i) {
    const auto times = std::ranges::count(order.class_of, i);
    sum.add(model::layer_parameters(model, order.classes[i]), static_cast<double>(times));
  }
  sum.add(model::embedding_parameters(model), 1);
  sum.add(model::encoder_parameters(model), 1);
  sum.add(model::head_parameters(model), 1);
  sum.add(model::multi_token_module_parameters(model),
          static_cast<double>(model.extra_predicted_tokens()));
  return sum;
}

double divisor(StateShardingScope spread, std::int64_t group, std::int64_t world) {
  if (spread == StateShardingScope::kNone) return 1;
  return static_cast<double>(spread == StateShardingScope::kInner ? group : world);
}

/// Mean share of `sum` on a rank, if a state has this spread.
double of_rank(const Plan& plan, const Elements& sum, StateShardingScope spread) {
  const ParallelismDegrees& degrees = plan.parallel;
  const Sharding& sharding = plan.sharding;
  const std::int64_t copies = std::max<std::int64_t>(1, degrees.expert_data_degree());
  const double dense = sum.dense / static_cast<double>(degrees.tensor) /
                       divisor(spread, sharding.group, degrees.data * degrees.context);
  const double expert = sum.expert / static_cast<double>(degrees.expert * degrees.expert_tensor) /
                        divisor(spread, sharding.expert_group, copies);
  return (dense + expert) / static_cast<double>(degrees.pipeline);
}

}  // namespace

double min_host_memory_bytes(const Job& job, const Plan& plan) {
  const StateDataTypes types = state_types(job, plan);
  const OtherModelCounts others = other_models(job);
  const Elements trained = elements_of(job, false);
  const Elements every = elements_of(job, true);
  const auto stored_bytes = [&](const Elements& elements) {
    return static_cast<double>(bytes_of_elements(parameter_storage_type(job.precision), 1)) *
           of_rank(plan, elements, plan.sharding.parameters);
  };
  double own = plan.offload.optimizer * host_update_bytes_per_parameter(job.optimizer, types) *
               of_rank(plan, trained, plan.sharding.optimizer);
  std::int64_t resting = others.on_hosts;
  if (plan.offload.parameters) {
    Elements fetched = every;
    if (!types.has_master_copies()) fetched -= trained;
    own += stored_bytes(fetched);
    resting += others.parameters - others.updates;
  }
  const double bytes = static_cast<double>(1 + others.updates) * own +
                       static_cast<double>(resting) * stored_bytes(every);
  return bytes * static_cast<double>(std::min(job.cluster.devices_per_node, plan.parallel.ranks()));
}

double host_memory_bandwidth(const cluster::Cluster& cluster) {
  const double stated = cluster.host.memory_bandwidth_bytes_per_s;
  return stated > 0 ? stated : kAssumedHostMemoryBandwidth;
}

PipelineNodePlacement node_ranks(const Job& job, const Plan& plan) {
  const RankGridAxisSizes axes = grid_axes(plan.parallel, plan.rank_order);
  return {.ranks = plan.parallel.ranks(),
          .stride = axes.dense[static_cast<std::size_t>(ParallelismAxis::kPipeline)].stride,
          .of_node = job.cluster.devices_per_node};
}

namespace {

/// Calls `told` with each run of neighbouring ranks of one position, between two ranks.
template <class Told>
void each_position(std::int64_t first, std::int64_t end, std::int64_t positions,
                   const PipelineNodePlacement& nodes, Told&& told) {
  for (std::int64_t rank = first; rank < end;) {
    const std::int64_t next = std::min(end, (rank / nodes.stride + 1) * nodes.stride);
    told(static_cast<std::size_t>(rank / nodes.stride % positions), next - rank);
    rank = next;
  }
}

/// First rank of the node whose host holds the most bytes, and those bytes.
struct FullestNode {
  std::int64_t first = 0;
  double bytes = 0;
};

FullestNode fullest_node(std::span<const double> of_rank, const PipelineNodePlacement& nodes) {
  const auto positions = static_cast<std::int64_t>(of_rank.size());
  const std::int64_t of_node = std::min(nodes.of_node, nodes.ranks);
  if (nodes.stride % of_node == 0) {
    const auto most = std::ranges::max_element(of_rank);
    return {.first = (most - of_rank.begin()) * nodes.stride,
            .bytes = static_cast<double>(of_node) * *most};
  }
  FullestNode most;
  for (std::int64_t first = 0; first < nodes.ranks; first += of_node) {
    const std::int64_t end = std::min(first + of_node, nodes.ranks);
    double bytes = 0;
    each_position(first, end, positions, nodes, [&](std::size_t position, std::int64_t ranks) {
      bytes += static_cast<double>(ranks) * of_rank[position];
    });
    if (bytes > most.bytes) most = {.first = first, .bytes = bytes};
    if (end % (nodes.stride * positions) == 0) break;  // Later nodes repeat this pattern.
  }
  return most;
}

}  // namespace

double fullest_node_host_memory_bytes(std::span<const double> of_rank,
                                      const PipelineNodePlacement& nodes) {
  return fullest_node(of_rank, nodes).bytes;
}

std::vector<std::int64_t> pipeline_rank_counts_of_fullest_node(std::span<const double> of_rank,
                                                               const PipelineNodePlacement& nodes) {
  const std::int64_t first = fullest_node(of_rank, nodes).first;
  const std::int64_t end = std::min(first + std::min(nodes.of_node, nodes.ranks), nodes.ranks);
  std::vector<std::int64_t> ranks(of_rank.size());
  each_position(first, end, static_cast<std::int64_t>(of_rank.size()), nodes,
                [&](std::size_t position, std::int64_t count) { ranks[position] += count; });
  return ranks;
}

}  // namespace stepwright::plan
