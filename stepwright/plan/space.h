#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// Stands for the word `node` in lists of sharding groups: each plan's own `node_sharding_group` or
/// `node_expert_group` (plan/grid.h).
inline constexpr std::int64_t kNodeGroup = 0;

/// The algorithms of each scheme among which the tuner may choose.
struct CollectiveLists {
  std::vector<collective::Algorithm> tensor, context, expert, data;
  bool operator==(const CollectiveLists&) const = default;
};
/// States and activations that the tuner may leave to the host.
struct OffloadLists {
  std::vector<double> optimizer;
  std::vector<bool> masters;
  std::vector<OffloadModules> activations;
  std::vector<bool> parameters;
  bool operator==(const OffloadLists&) const = default;
};
/// The values from which the tuner may choose, one list per dimension (the job's `search:`
/// mapping). An empty list leaves the dimension free: the tuner takes every legal value of it, or,
/// for the dimensions marked (*), the one default of `Plan`.
struct Space {
  std::vector<std::int64_t> tensor;
  std::vector<std::int64_t> pipeline;
  std::vector<std::int64_t> context;
  std::vector<std::int64_t> expert;
  std::vector<std::int64_t> expert_tensor;
  std::vector<std::int64_t> data;
  std::vector<std::int64_t> micro_batch;
  std::vector<schedule::ScheduleKind> schedule;
  std::vector<std::int64_t> chunks;
  std::vector<std::int64_t> strands;  ///< Strands of a schedule (*)
  std::vector<Sharding> sharding;     ///< States only; the groups below.
  /// Groups of sharding; `kNodeGroup`: `node_sharding_group`.
  std::vector<std::int64_t> sharding_group;
  /// Groups of experts; `kNodeGroup`: `node_expert_group`.
  std::vector<std::int64_t> expert_group;
  std::vector<Recompute> recompute;  ///< Recomputations; if free: none, selective, full.
  std::vector<bool> sequence_parallel;
  std::vector<TensorInput> tensor_input;
  std::vector<ContextKind> context_kind;
  std::vector<DType> accumulate;               ///< Types of accumulated gradients (*)
  std::vector<std::int64_t> gradient_bucket;   ///< Elements of a gradient bucket (*)
  std::vector<std::int64_t> parameter_bucket;  ///< Elements of a parameter bucket (*)
  std::vector<Overlap> overlap;                ///< Sets of overlaps (*)
  CollectiveLists collectives;                 ///< Algorithms, each list (*)
  std::vector<RankOrder> rank_order;           ///< Orders of ranks (*)
  OffloadLists offload;                        ///< Offloads, each list (*)
  /// Layers of each chunk; an empty list: even. (*)
  std::vector<std::vector<std::int64_t>> layers;

  bool operator==(const Space&) const = default;
};

}  // namespace stepwright::plan
