#pragma once

#include <array>
#include <cstdint>

#include "stepwright/cluster/adding_switches.h"
#include "stepwright/cluster/layout.h"
#include "stepwright/collective/algorithm.h"

namespace stepwright::collective {

/// Bytes that each rank sends (and receives) for a full buffer of `payload_bytes` in a group of
/// `size`: all-reduce 2 (g-1)/g, all-gather, reduce-scatter and all-to-all (g-1)/g, point to point
/// 1 (Thakur et al. 2005, the bandwidth-optimal algorithms). 0 in a group of one.
double sent_bytes(Collective collective, double payload_bytes, std::int64_t size);

/// Mean bytes that a rank of a group sends by an algorithm that supports the operation and the
/// group. Equal to the other `sent_bytes` except for two algorithms: the relay sends passed-on
/// bytes twice; adding switches take each rank's buffer once, 1/m of the sum once more for the
/// whole node, and 2 (n-1)/(nm) between n nodes along a tree.
double sent_bytes(Algorithm algorithm, Collective collective, double payload_bytes,
                  const GroupNodeLayout& form);

/// Load of one level of the cluster by one group's collective. `bytes` leave the lower unit with
/// the most traffic, in one direction; `messages` cross the level one after the other.
struct LevelLoad {
  double bytes = 0;
  double messages = 0;
};

/// Loads indexed as `Cluster::levels`; 0 above the levels that the group spans.
using LevelLoads = std::array<LevelLoad, cluster::kMaxLevels>;

/// Returns the load per level of the library and of rings, or of two-level algorithms (`kTwoLevel`,
/// `kHoRing`). Rings and chains leave each unit once, so one rank's bytes leave every unit; a block
/// passes all hops of a ring but one. In an all-to-all, every rank of a unit sends its share to
/// each peer outside. Point to point, only ranks at the edge of a unit send across it: one message
/// leaves each unit, and the slowest pair of neighbours sets the time. On two levels (PaRO,
/// 2310.06003), an all-gather goes along the rails (ranks with equal index in their nodes) and
/// inside the nodes, a reduce-scatter in reverse, an all-reduce inside, along the rails, inside;
/// other operations go as for rings. `node_levels`: `intra_node_level_count` of the cluster.
LevelLoads level_loads(Collective collective, Algorithm algorithm, double payload_bytes,
                       const cluster::GroupLayout& layout, int node_levels = 1);

/// Number of a cluster's levels inside a node.
int intra_node_level_count(const cluster::Cluster& cluster);

/// Number of the group's ranks that share a node: the rails of a two-level collective, and the
/// ranks that can send through the node's NICs. 1 without levels inside the node.
std::int64_t group_members_per_node(const cluster::GroupLayout& layout, int node_levels);

/// Number of nodes of the group, rounded up.
std::int64_t group_node_count(const cluster::GroupLayout& layout, int node_levels);

/// Returns the form of a group. `inside_adds`: `adds_inside` of the cluster.
GroupNodeLayout group_form(const cluster::GroupLayout& layout, int node_levels, bool inside_adds);
inline GroupNodeLayout group_form(const cluster::GroupLayout& layout,
                                  const cluster::Cluster& cluster) {
  return group_form(layout, intra_node_level_count(cluster),
                    cluster::adds_inside(cluster::in_network_reduction(cluster)));
}

}  // namespace stepwright::collective
