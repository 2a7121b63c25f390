#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/plan/plan.h"

namespace stepwright::runtime {

/// A run of consecutive equal blocks of a sharded tensor.
struct ShardBlockRun {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

/// How parameters, gradients and optimizer states of one kind (dense or expert) are sharded over a
/// data-parallel group of `outer` sharding groups with `inner` ranks each. A tensor is padded to
/// `blocks()` equal blocks. If sharded inside groups, the rank at position j holds the blocks j *
/// outer to (j + 1) * outer - 1; if sharded over all ranks, the rank at position j of group i holds
/// one of these, the block j * outer + i. A change between the two shardings therefore touches
/// contiguous memory, while collectives over all ranks, in rank order, permute blocks.
struct StateShardingLayout {
  plan::Sharding sharding;
  std::int64_t inner = 1;     ///< Number of ranks in a sharding group (m).
  std::int64_t outer = 1;     ///< Number of sharding groups in the data-parallel group (n).
  std::int64_t group = 0;     ///< Index i of this rank's sharding group.
  std::int64_t position = 0;  ///< Position j of this rank in its sharding group.
  /// Index, among the ranks that share optimizer states, of the rank that holds the whole optimizer
  /// states of a tensor; its parameters and gradients are whole on all ranks. nullopt: optimizer
  /// states are sharded.
  std::optional<std::int64_t> owner = std::nullopt;

  /// Returns the number of equal blocks into which a tensor is divided: the number of data-parallel
  /// ranks; 1 if no state is sharded.
  [[nodiscard]] std::int64_t blocks() const;
  /// Returns the index of this rank among the ranks over which a state sharded in the way `spread`
  /// is divided.
  [[nodiscard]] std::int64_t shard_index_of_rank(plan::StateShardingScope spread) const;
  /// Returns the number of elements of a tensor after padding to equal blocks.
  [[nodiscard]] std::int64_t padded_element_count(std::int64_t elements) const;
  /// Returns the blocks that this rank holds of a state sharded in the way `spread`.
  [[nodiscard]] ShardBlockRun shard_blocks_on_this_rank(plan::StateShardingScope spread) const;
  /// Returns the number of ranks over which a state sharded in the way `spread` is divided.
  [[nodiscard]] std::int64_t shard_count_of_spread(plan::StateShardingScope spread) const;
  /// Returns the blocks of a state that another rank holds. `index`: that rank's index among the
  /// ranks over which the state is divided.
  [[nodiscard]] ShardBlockRun held_by(std::int64_t index, plan::StateShardingScope spread) const;
  /// True if this rank is the first of the ranks that hold the same blocks of a state.
  [[nodiscard]] bool is_first_rank_holding_shard(plan::StateShardingScope spread) const;
};

/// Returns the layout of the rank at `index` (i * inner + j) of a data-parallel group of `world`
/// ranks.
StateShardingLayout state_sharding_layout(const plan::Sharding& sharding, std::int64_t inner,
                                          std::int64_t world, std::int64_t index);

}  // namespace stepwright::runtime
