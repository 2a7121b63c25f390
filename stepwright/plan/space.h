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
  /// Numbers of micro-batch streams that a schedule runs side by side (1, 2); empty: the default.
  std::vector<std::int64_t> strands;
  /// Sharding strategies; sizes of their groups are separate lists.
  std::vector<Sharding> sharding;
  /// Numbers of ranks of a sharding group; `kNodeSizedShardingGroup`: as many as share a node.
  std::vector<std::int64_t> sharding_group;
  /// Numbers of ranks of a sharding group of experts; `kNodeSizedShardingGroup`: as many as share a
  /// node.
  std::vector<std::int64_t> expert_group;
  /// Recomputations; empty: none, selective and full are tried.
  std::vector<ActivationRecomputation> recompute;
  std::vector<bool> sequence_parallel;
  std::vector<GatheredInputPolicy> tensor_input;
  std::vector<ContextKind> context_kind;
  std::vector<DType> accumulate;               ///< Gradient accumulation types; empty: default.
  std::vector<std::int64_t> gradient_bucket;   ///< Gradient bucket elements; empty: the default.
  std::vector<std::int64_t> parameter_bucket;  ///< Parameter bucket elements; empty: the default.
  std::vector<OverlapFlags> overlap;           ///< Sets of overlap flags; empty: the default.
  SearchedCollectiveAlgorithms collectives;    ///< Algorithms of each scheme; empty: the default.
  std::vector<RankOrder> rank_order;           ///< Orders of axes on ranks; empty: the default.
  SearchedOffloadChoices offload;              ///< Host-offload choices; empty: the defaults.
  /// Layers of each pipeline chunk; an empty inner list: the even split; no list: the default.
  std::vector<std::vector<std::int64_t>> layers;

  bool operator==(const TunerSearchSpace&) const = default;
};

}  // namespace stepwright::plan
