#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// How the ranks of one collective lie over the levels of a cluster when its sister groups (the
/// other groups of the same partition of all ranks) run at the same time. A value, comparable,
/// cheap to copy: the key of every collective's price. Where groups or units differ (sizes that do
/// not divide each other) each number is that of the worst one.
///
/// Level `i` joins lower units (single devices for level 0) into units of `levels[i].size` devices.
/// Eight devices a node, levels nvlink (8) and network (all):
///
///     group                     span     members      sharers   of a node's uplink each group has
///     tensor: 8 at stride 1     nvlink   8, 8         1, 0      none: it does not leave the node
///     data: 4 at stride 8       network  1, 4         1, 8      an eighth
///     16 at stride 1            network  8, 16        1, 1      all: a ring leaves a node once
///     pipeline: 2 at stride 64  network  1, 2         1, 8      an eighth
///
/// So a ring has `uplink_bytes_per_s / sharers[i]` on each level up to `span`, and the least of
/// these is its rate.
struct GroupLayout {
  std::int64_t size = 1;  ///< Ranks of the group.
  int levels = 0;         ///< Levels in use below.
  /// Per level: most members of one group in one unit of that level (1 up to `size`).
  std::array<std::int64_t, kMaxLevels> members{};
  /// Per level: most groups that leave one lower unit, that is, have a member in it and another
  /// outside, near or far: they share that unit's uplink. 0 on levels beyond `span`.
  std::array<std::int64_t, kMaxLevels> sharers{};
  /// The outermost level whose lower units a group leaves (index into Cluster::levels); -1 for a
  /// group of one.
  int span = -1;

  auto operator<=>(const GroupLayout&) const = default;
};

/// The layout of groups of `size` ranks at a constant `stride` (rank, rank + stride, ...) that
/// partition the ranks: blocks of size x stride consecutive ranks hold `stride` groups each. Ranks
/// left over after the last whole block belong to no group. Exact for any sizes: arithmetic where
/// units and blocks fill the cluster evenly, else a walk over the lower units. No allocation.
/// Fails with `kInput` when size or stride is below 1 or one group exceeds the cluster.
GroupLayout strided_layout(const Cluster& cluster, std::int64_t size, std::int64_t stride);

}  // namespace stepwright::cluster
