#pragma once

#include "stepwright/cluster/layout.h"
#include "stepwright/collective/wire.h"
#include "stepwright/cost/collective_cost.h"

namespace stepwright {

/// What one message of c10d's Gloo keeps busy on the busiest node when all sister groups send at
/// the same time. Ranks of a node meet over its loopback, one bus for all of them and both ways.
///
///     all-gather       a ring: each rank passes on g - 1 blocks
///     all-reduce       a ring, twice round
///     reduce-scatter   c10d does an all-reduce and keeps a block
///     all-to-all       every rank sends its share to every other at once
///     send, shift      a message to the next rank
struct SocketLoads {
  double inside_bytes = 0;   ///< Over the node's loopback, all ranks together.
  double network_bytes = 0;  ///< Out of a node, and as much into it.
  double inside_hops = 0;    ///< Messages one after the other, when none leaves the node.
  double network_hops = 0;   ///< The same when some do.
};

/// How a group lies on its nodes.
struct SocketGroup {
  std::int64_t nodes = 1;
  std::int64_t members = 1;  ///< Of one group in a node.
  std::int64_t groups = 1;   ///< That have members in a node.

  [[nodiscard]] std::int64_t size() const { return nodes * members; }
};

/// A layout as that, on nodes of so many devices.
SocketGroup socket_group(const GroupLayout& layout, int node_levels, std::int64_t devices);

SocketLoads socket_loads(Collective collective, double payload_bytes, const SocketGroup& group);

/// What such a message costs:
///
///     seconds = start + hops * seconds of one + max(bytes inside / rate, bytes outside / rate)
struct SocketLaw {
  double start_s = 0;
  double hop_s = 0;
  double network_hop_s = 0;
  double inside_s_per_byte = 0;
  double network_s_per_byte = 0;

  [[nodiscard]] OperatorTime time(const SocketLoads& loads) const;
};

}  // namespace stepwright
