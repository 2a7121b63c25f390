#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// How the ranks of a collective's group are placed on the levels of a cluster, and how many equal
/// groups share the links, since all groups of a partition of the ranks run at the same time.
/// A layout is the key of stored prices of collectives. If groups or units differ (because sizes do
/// not divide each other), each number is that of the worst one.
///
/// Level `i` joins units of the level below (single devices for level 0) into units of
/// `levels[i].size` devices. Example with eight devices a node, levels nvlink (8 devices) and
/// network (all): tensor groups of 8 neighbouring ranks have span nvlink, members {8, 8} and
/// sharers {1, 0}, as they leave no node; data groups of 4 ranks at stride 8 have span network,
/// members {1, 4} and sharers {1, 8}, an eighth of a node's uplink for each.
///
/// A ring gets `uplink_bytes_per_s / sharers[i]` on each level up to `span`; the smallest of these
/// is the rate of the ring.
struct GroupLayout {
  std::int64_t size = 1;  ///< Number of ranks in one group.
  /// Number of network levels of the cluster, which is the number of used entries in `members` and
  /// `sharers`.
  int levels = 0;
  /// For each network level, the largest number of one group's ranks inside one unit (node, ...) of
  /// that level; 1 to `size`.
  std::array<std::int64_t, kMaxLevels> members{};
  /// For each level, the most groups that share the uplink of one lower unit because each has
  /// members inside and outside of that unit; 0 on levels beyond `span`.
  std::array<std::int64_t, kMaxLevels> sharers{};
  /// Index in `Cluster::levels` of the outermost level that the group's traffic crosses; -1: a
  /// group of one rank.
  int span = -1;

  auto operator<=>(const GroupLayout&) const = default;
};

/// Returns the layout of groups of `size` ranks at a constant `stride` (rank, rank + stride, ...):
/// each block of size x stride consecutive ranks contains `stride` groups; ranks after the last
/// whole block belong to no group. Exact for any sizes. Fails with `kInput` if size or stride is
/// below 1 or one group exceeds the cluster.
GroupLayout network_layout_of_strided_group(const Cluster& cluster, std::int64_t size,
                                            std::int64_t stride);

}  // namespace stepwright::cluster
