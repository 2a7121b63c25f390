#pragma once

#include <array>
#include <cstdint>

#include "stepwright/cluster/layout.h"

namespace stepwright {

/// The operations of a communicator whose volumes are known here.
enum class Collective : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPointToPoint,  ///< Every member sends to the next one: a pipeline transfer, a step of a ring.
  kBroadcast,     ///< As schedules only, from the first rank.
  kReduce,        ///< As schedules only, to the first rank.
};

/// How a collective is carried out.
enum class Carrier : std::uint8_t {
  /// One ring over all ranks, node by node; an all-to-all is a direct exchange.
  kRing,
  /// Inside the nodes and between them in turn (PaRO, 2310.06003): an all-gather first along the
  /// rails (ranks at equal places of their nodes), then inside; a reduce-scatter in reverse; an
  /// all-reduce inside, along the rails, inside. All-to-all and point to point as for `kRing`.
  kTwoLevel,
};

/// Bytes that each rank sends (and receives) for a full buffer of `payload_bytes` in a group of
/// `size`: all-reduce 2 (g-1)/g, all-gather, reduce-scatter and all-to-all (g-1)/g, point to point
/// 1 (Thakur et al. 2005, the bandwidth-optimal algorithms). The same for both carriers; what
/// differs is the links. 0 in a group of one.
double sent_bytes(Collective collective, double payload_bytes, std::int64_t size);

/// What one level of the cluster carries for a collective on behalf of one group: `bytes` leave one
/// lower unit (the one that most leave), one way; `messages` cross the level one after the other.
struct LevelLoad {
  double bytes = 0;
  double messages = 0;
};

/// Indexed as `Cluster::levels`; empty beyond the layout's span.
using LevelLoads = std::array<LevelLoad, kMaxLevels>;

/// The load per level. Rings and chains leave each unit once, so that out of every unit goes what
/// one rank sends; a block takes all hops of a ring but one. In an all-to-all every rank
/// of a unit sends its share to each peer outside. Point to point, the members that sit at the edge
/// of a unit send across it and the others do not: one message leaves each unit, and the slowest
/// pair of neighbours, which crosses the span, sets the pace.
/// `node_levels`: `levels_in_node` of the cluster (for `kTwoLevel`).
LevelLoads level_loads(Collective collective, Carrier carrier, double payload_bytes,
                       const GroupLayout& layout, int node_levels = 1);

/// How many of a cluster's levels lie inside a node.
int levels_in_node(const Cluster& cluster);

/// Members of the group that share a node: the rails of a two-level collective, and the ranks that
/// can send through the node's NICs. 1 without levels inside the node.
std::int64_t members_in_node(const GroupLayout& layout, int node_levels);

/// Nodes that the group lies on, rounded up.
std::int64_t nodes_of(const GroupLayout& layout, int node_levels);

}  // namespace stepwright
