#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/plan/plan.h"

namespace stepwright::runtime {

/// A run of blocks of a tensor.
struct BlockRun {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

/// How the model states of one kind of parameters (dense or expert) are cut over their data group.
/// Each tensor is padded to `blocks()` equal blocks; rank (group i, position j) of `outer` groups
/// of `inner` ranks holds, shard-major, of a state spread I the blocks j * outer ... + outer - 1,
/// of a state spread G block j * outer + i, which lies in the former. So a re-sharding between I
/// and G touches contiguous memory; collectives over all ranks, which are rank-major, permute
/// blocks.
struct StateLayout {
  plan::Sharding sharding;
  std::int64_t inner = 1;     ///< Ranks of a sharding group (m).
  std::int64_t outer = 1;     ///< Number of sharding groups (n).
  std::int64_t group = 0;     ///< i of this rank.
  std::int64_t position = 0;  ///< j of this rank.
  /// For a tensor whose optimizer states are whole on one of the ranks that share states: its place
  /// among those ranks. Parameters and gradients of such tensors are whole on all.
  std::optional<std::int64_t> owner = std::nullopt;

  /// Blocks of a tensor: all ranks of the group, 1 when no state is cut.
  [[nodiscard]] std::int64_t blocks() const;
  /// The place of this rank among those that share a state of this spread.
  [[nodiscard]] std::int64_t place(plan::Spread spread) const;
  /// Elements of a tensor with its padding.
  [[nodiscard]] std::int64_t padded(std::int64_t elements) const;
  /// The blocks of a state that this rank holds.
  [[nodiscard]] BlockRun held(plan::Spread spread) const;
  /// Ranks among which a state is cut, and the blocks that one of them holds: by its place among
  /// the ranks of that spread.
  [[nodiscard]] std::int64_t shares(plan::Spread spread) const;
  [[nodiscard]] BlockRun held_by(std::int64_t index, plan::Spread spread) const;
  /// Whether this rank is the first of those that hold the same blocks of a state.
  [[nodiscard]] bool first_holder(plan::Spread spread) const;
};

/// The layout of a rank that stands at `index` (i * inner + j) of its data group.
StateLayout state_layout(const plan::Sharding& sharding, std::int64_t inner, std::int64_t world,
                         std::int64_t index);

}  // namespace stepwright::runtime
