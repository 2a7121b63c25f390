#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// Value for the word `node` in lists of sharding groups: each plan's own `node_sharding_group` or
/// `node_expert_group` (plan/grid.h).
inline constexpr std::int64_t kNodeGroup = 0;

/// The algorithms of each scheme among which the tuner may choose.
struct CollectiveLists {
  std::vector<collective::Algorithm> tensor, context, expert, data;
  bool operator==(const CollectiveLists&) const = default;
};
/// States and activations that the tuner may keep in host memory.
struct OffloadLists {
  std::vector<double> optimizer;
  std::vector<bool> masters;
  std::vector<OffloadModules> activations;
  std::vector<bool> parameters;
  bool operator==(const OffloadLists&) const = default;
};
/// The values from which the tuner may choose, one list for each dimension (the job's `search:`
/// mapping). An empty list leaves the dimension free: the tuner tries every legal value of it; for
/// dimensions marked (*) it uses only the default of `Plan`.
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
  std::vector<std::int64_t> strands;  ///< Numbers of strands of a schedule (*)
  std::vector<Sharding> sharding;  ///< Spreads of states; their group sizes are the next two lists.
  /// Sizes of sharding groups; `kNodeGroup`: `node_sharding_group`.
  std::vector<std::int64_t> sharding_group;
  /// Sizes of sharding groups of experts; `kNodeGroup`: `node_expert_group`.
  std::vector<std::int64_t> expert_group;
  /// Recomputations; a free search tries none, selective and full.
  std::vector<Recompute> recompute;
  std::vector<bool> sequence_parallel;
  std::vector<TensorInput> tensor_input;
  std::vector<ContextKind> context_kind;
  std::vector<DType> accumulate;               ///< Types of accumulated gradients (*)
  std::vector<std::int64_t> gradient_bucket;   ///< Elements of a gradient bucket (*)
  std::vector<std::int64_t> parameter_bucket;  ///< Elements of a parameter bucket (*)
  std::vector<Overlap> overlap;                ///< Sets of overlaps (*)
  CollectiveLists collectives;                 ///< Algorithms of each scheme; each list (*)
  std::vector<RankOrder> rank_order;           ///< Orders of ranks (*)
  OffloadLists offload;                        ///< Host offload; each list (*)
  /// Splits into layers of each chunk; an empty split: even. (*)
  std::vector<std::vector<std::int64_t>> layers;

  bool operator==(const Space&) const = default;
};

}  // namespace stepwright::plan
