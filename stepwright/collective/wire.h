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

/// Mean bytes that a rank of a group sends by an algorithm that covers the operation and suits the
/// group. Equal to the above, so that only the links differ, but for the relay (twice for what is
/// passed on) and for adding switches: up once, an m-th of the sum up once more for all of the
/// node, and between n nodes 2 (n-1)/(nm) along a tree.
double sent_bytes(Algorithm algorithm, Collective collective, double payload_bytes,
                  const GroupForm& form);

/// The load of one level of the cluster by a collective on behalf of one group: `bytes` leave one
/// lower unit (the one that most leave), one way; `messages` cross the level one after the other.
struct LevelLoad {
  double bytes = 0;
  double messages = 0;
};

/// Indexed as `Cluster::levels`; empty beyond the layout's span.
using LevelLoads = std::array<LevelLoad, cluster::kMaxLevels>;

/// The load per level of the library and of rings, or on two levels (`kTwoLevel`, `kHoRing`). Rings
/// and chains leave each unit once, so that out of every unit goes what one rank sends; a block
/// takes all hops of a ring but one. In an all-to-all every rank of a unit sends its share to each
/// peer outside. Point to point, the members that sit at the edge of a unit send across it and the
/// others do not: one message leaves each unit, and the slowest pair of neighbours, which crosses
/// the span, sets the pace. On two levels (PaRO, 2310.06003) an all-gather goes along the rails
/// (ranks at equal places of their nodes) and inside the nodes, a reduce-scatter in reverse, an
/// all-reduce inside, along the rails, inside; other operations as for rings. `node_levels`:
/// `levels_in_node` of the cluster.
LevelLoads level_loads(Collective collective, Algorithm algorithm, double payload_bytes,
                       const cluster::GroupLayout& layout, int node_levels = 1);

/// How many of a cluster's levels lie inside a node.
int levels_in_node(const cluster::Cluster& cluster);

/// Members of the group that share a node: the rails of a two-level collective, and the ranks that
/// can send through the node's NICs. 1 without levels inside the node.
std::int64_t members_in_node(const cluster::GroupLayout& layout, int node_levels);

/// Nodes that the group lies on, rounded up.
std::int64_t nodes_of(const cluster::GroupLayout& layout, int node_levels);

/// How a group lies. `inside_adds`: `adds_inside` of the cluster.
GroupForm group_form(const cluster::GroupLayout& layout, int node_levels, bool inside_adds);
inline GroupForm group_form(const cluster::GroupLayout& layout, const cluster::Cluster& cluster) {
  return group_form(layout, levels_in_node(cluster),
                    cluster::adds_inside(cluster::adding_switches(cluster)));
}

}  // namespace stepwright::collective
