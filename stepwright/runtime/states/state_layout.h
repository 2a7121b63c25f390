#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/plan/plan.h"

namespace stepwright::runtime {

/// A run of consecutive blocks of a tensor.
struct BlockRun {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

/// How the model states of one kind of parameters (dense or expert) are cut over their data group.
/// Each tensor is padded to `blocks()` equal blocks. The group consists of `outer` groups of
/// `inner` ranks. The rank at position j of group i holds, in shard-major order: of a state with
/// spread I the blocks j * outer to j * outer + outer - 1; of a state with spread G the block j *
/// outer + i, which is one of these. A re-sharding between I and G therefore touches contiguous
/// memory; collectives over all ranks, which are rank-major, permute blocks.
struct StateLayout {
  plan::Sharding sharding;
  std::int64_t inner = 1;     ///< Ranks of a sharding group (m).
  std::int64_t outer = 1;     ///< Number of sharding groups (n).
  std::int64_t group = 0;     ///< Number i of this rank's sharding group.
  std::int64_t position = 0;  ///< Position j of this rank in its sharding group.
  /// For a tensor whose optimizer states are whole on one of the ranks that share states: the
  /// owner's index among those ranks. Parameters and gradients of such tensors are whole on all
  /// ranks. nullopt: states are cut.
  std::optional<std::int64_t> owner = std::nullopt;

  /// Returns the number of blocks of a tensor: the ranks of the group; 1 when no state is cut.
  [[nodiscard]] std::int64_t blocks() const;
  /// Returns the index of this rank among those that share a state of this spread.
  [[nodiscard]] std::int64_t place(plan::Spread spread) const;
  /// Returns the number of elements of a tensor with its padding.
  [[nodiscard]] std::int64_t padded(std::int64_t elements) const;
  /// Returns the blocks of a state that this rank holds.
  [[nodiscard]] BlockRun held(plan::Spread spread) const;
  /// Returns the number of ranks among which a state is cut; `held_by`: the blocks of the rank at
  /// `index` among them.
  [[nodiscard]] std::int64_t shares(plan::Spread spread) const;
  [[nodiscard]] BlockRun held_by(std::int64_t index, plan::Spread spread) const;
  /// True if this rank is the first of those that hold the same blocks of a state.
  [[nodiscard]] bool first_holder(plan::Spread spread) const;
};

/// Returns the layout of the rank at `index` (i * inner + j) of its data group.
StateLayout state_layout(const plan::Sharding& sharding, std::int64_t inner, std::int64_t world,
                         std::int64_t index);

}  // namespace stepwright::runtime
