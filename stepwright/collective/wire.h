#pragma once

#include <array>
#include <cstdint>

#include "stepwright/cluster/adding_switches.h"
#include "stepwright/cluster/layout.h"
#include "stepwright/collective/algorithm.h"

namespace stepwright::collective {

/// Returns the bytes that each rank sends (and receives) with a bandwidth-optimal algorithm (Thakur
/// et al. 2005), for a full buffer of `payload_bytes` in a group of g = `size` ranks: all-reduce 2
/// (g-1)/g, all-gather, reduce-scatter and all-to-all (g-1)/g, point to point 1. 0 if g is 1.
double bytes_sent_by_each_rank(CollectiveOperation collective, double payload_bytes,
                               std::int64_t size);

/// Returns the mean bytes that a rank sends by this algorithm, which must suit the operation and
/// the group. Only two algorithms differ from the minimum: the relay sends passed-on bytes twice;
/// switches that add take each rank's buffer once, 1/m of the sum once more for the whole node, and
/// 2 (n-1)/(nm) between n nodes along a tree.
double bytes_sent_by_each_rank(CollectiveAlgorithm algorithm, CollectiveOperation collective,
                               double payload_bytes, const GroupNodeLayout& form);

/// Bytes and messages of one collective on one network level. `bytes`: sent out of the busiest of
/// the units that the level joins, in one direction. `messages`: number that must cross the level
/// one after the other.
struct NetworkLevelLoad {
  double bytes = 0;
  double messages = 0;
};

/// Bytes and messages of a collective on each network level, indexed as `Cluster::levels`; 0 on
/// levels that the group does not cross.
using LevelLoads = std::array<NetworkLevelLoad, cluster::kMaxLevels>;

/// Returns the load that a collective puts on each network level, for the library and rings or for
/// two-level algorithms (`kTwoLevel`, `kHoRing`). A ring leaves each unit once, and a block passes
/// all its hops but one. In an all-to-all, every rank sends its share to each rank outside its
/// unit. Point to point, one message leaves each unit. On two levels (PaRO, 2310.06003), an
/// all-gather runs first between ranks with equal index on their nodes, then inside the nodes, a
/// reduce-scatter in reverse, an all-reduce inside, between, inside. `node_levels`: number of
/// levels inside a node.
LevelLoads network_level_loads(CollectiveOperation collective, CollectiveAlgorithm algorithm,
                               double payload_bytes, const cluster::GroupLayout& layout,
                               int node_levels = 1);

/// Returns how many of a cluster's network levels are inside a node.
int intra_node_level_count(const cluster::Cluster& cluster);

/// Returns the number of the group's ranks on one node; 1 if the cluster has no level inside the
/// node. `node_levels`: number of network levels inside a node.
std::int64_t group_members_per_node(const cluster::GroupLayout& layout, int node_levels);

/// Returns the number of nodes on which the group has ranks, rounded up. `node_levels`: number of
/// network levels inside a node.
std::int64_t group_node_count(const cluster::GroupLayout& layout, int node_levels);

/// Returns how a group's ranks are distributed over nodes. `node_levels`: number of network levels
/// inside a node; `inside_adds`: true if switches inside nodes can add.
GroupNodeLayout group_node_layout(const cluster::GroupLayout& layout, int node_levels,
                                  bool inside_adds);
inline GroupNodeLayout group_node_layout(const cluster::GroupLayout& layout,
                                         const cluster::Cluster& cluster) {
  return group_node_layout(
      layout, intra_node_level_count(cluster),
      cluster::node_switches_reduce(cluster::in_network_reduction_support(cluster)));
}

}  // namespace stepwright::collective
