#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// How the ranks of one collective are placed on the levels of a cluster while its sister groups
/// (the other groups of the same partition of all ranks) run at the same time. It is a comparable
/// value that is cheap to copy, and the key under which a collective's price is stored. If groups
/// or units differ (because sizes do not divide each other), each number is that of the worst one.
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
/// A ring therefore gets `uplink_bytes_per_s / sharers[i]` on each level up to `span`; the smallest
/// of these is the rate of the ring.
struct GroupLayout {
  std::int64_t size = 1;  ///< Number of ranks in the group.
  int levels = 0;         ///< Number of levels used in the arrays below.
  /// Per level: the most members of one group in one unit of that level (1 up to `size`).
  std::array<std::int64_t, kMaxLevels> members{};
  /// Per level: the most groups that leave one lower unit, that is, have a member inside and
  /// another outside of it; they share that unit's uplink. 0 on levels beyond `span`.
  std::array<std::int64_t, kMaxLevels> sharers{};
  /// Index (in Cluster::levels) of the outermost level whose lower units a group leaves; -1: a
  /// group of one rank.
  int span = -1;

  auto operator<=>(const GroupLayout&) const = default;
};

/// Returns the layout of groups of `size` ranks at a constant `stride` (rank, rank + stride, ...)
/// that partition the ranks: each block of size x stride consecutive ranks contains `stride`
/// groups. Ranks left over after the last whole block belong to no group. Exact for any sizes:
/// computed by arithmetic if units and blocks fill the cluster evenly, else by a walk over the
/// lower units. Allocates no memory. Fails with `kInput` if size or stride is below 1 or one group
/// exceeds the cluster.
GroupLayout strided_layout(const Cluster& cluster, std::int64_t size, std::int64_t stride);

}  // namespace stepwright::cluster
