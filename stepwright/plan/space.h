#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// Value in lists of sharding groups that stands for the word `node`: each plan uses its own
/// `node_sharding_group_size` or `node_expert_sharding_group_size` (plan/grid.h).
inline constexpr std::int64_t kNodeSizedShardingGroup = 0;

/// Collective algorithms that the tuner may choose, for each parallelism scheme.
struct SearchedCollectiveAlgorithms {
  std::vector<collective::CollectiveAlgorithm> tensor, context, expert, data;
  bool operator==(const SearchedCollectiveAlgorithms&) const = default;
};
/// Choices of host offload that the tuner may use: values of each field of `HostOffload`.
struct SearchedOffloadChoices {
  std::vector<double> optimizer;
  std::vector<bool> masters;
  std::vector<OffloadModuleSet> activations;
  std::vector<bool> parameters;
  bool operator==(const SearchedOffloadChoices&) const = default;
};
/// Values from which the tuner may choose, one list per choice of a plan (the job's `search:`
/// mapping). An empty list: every legal value, or only `Plan`'s default if its comment says so.
struct TunerSearchSpace {
  std::vector<std::int64_t> tensor;
  std::vector<std::int64_t> pipeline;
  std::vector<std::int64_t> context;
  std::vector<std::int64_t> expert;
  std::vector<std::int64_t> expert_tensor;
  std::vector<std::int64_t> data;
  std::vector<std::int64_t> micro_batch;
  std::vector<schedule::PipelineScheduleKind> schedule;
  std::vector<std::int64_t> chunks;
  /// Numbers of micro-batch streams (1, 2) to try: how many a schedule runs side by side; empty:
  /// only the default.
  std::vector<std::int64_t> strands;
  /// Sharding strategies of model states to try; sizes of sharding groups are separate lists.
  std::vector<Sharding> sharding;
  /// Sizes of sharding groups to try, in ranks; `kNodeSizedShardingGroup`: as many ranks as share a
  /// node.
  std::vector<std::int64_t> sharding_group;
  /// Sizes of sharding groups of experts to try, in ranks; `kNodeSizedShardingGroup`: as many ranks
  /// as share a node.
  std::vector<std::int64_t> expert_group;
  /// Activation recomputations to try; empty: none, selective and full recomputation.
  std::vector<ActivationRecomputation> recompute;
  std::vector<bool> sequence_parallel;
  std::vector<GatheredInputPolicy> tensor_input;
  std::vector<ContextKind> context_kind;
  /// Number types to try for accumulating gradients; empty: only the default.
  std::vector<DType> accumulate;
  /// Sizes of gradient buckets to try, in elements; empty: only the default.
  std::vector<std::int64_t> gradient_bucket;
  /// Sizes of parameter buckets to try, in elements; empty: only the default.
  std::vector<std::int64_t> parameter_bucket;
  /// Sets of overlap flags to try (which communication overlaps computation); empty: only the
  /// default.
  std::vector<OverlapFlags> overlap;
  /// Collective algorithms to try for each parallelism scheme; an empty list: only the default.
  SearchedCollectiveAlgorithms collectives;
  /// Orders in which ranks count along the parallelism axes, to try; empty: only the default.
  std::vector<RankOrder> rank_order;
  /// Choices to try of what is kept in host memory; an empty list: only the default.
  SearchedOffloadChoices offload;
  /// Divisions of layers among pipeline chunks to try, each a list of layers per chunk (empty: the
  /// even split); no divisions: only the default.
  std::vector<std::vector<std::int64_t>> layers;

  bool operator==(const TunerSearchSpace&) const = default;
};

}  // namespace stepwright::plan
