#pragma once

#include "stepwright/cluster/layout.h"
#include "stepwright/collective/wire.h"
#include "stepwright/cost/laws/operator_time.h"

namespace stepwright::cost {

/// The messages that one collective of c10d's Gloo backend sends, while all groups of its kind in
/// the node do likewise. Ranks of a node use its loopback, one bus for both directions. For g
/// ranks:
///
///     all-gather       a ring: g - 1 steps, in each of which every rank sends a block on
///     all-reduce       a ring, twice round
///     reduce-scatter   c10d does an all-reduce and keeps a block
///     all-to-all       one step, in which every rank sends its share to every other
///     send, shift      one step, a message to the next rank
struct GlooMessageLoads {
  /// Number of steps that the collective makes one after the other.
  double steps = 0;
  /// Number of messages that one rank sends during the whole collective.
  double hops = 0;
  double block_bytes = 0;  ///< Bytes of one message.
  /// Number of messages over a node's loopback in one step, of all its ranks together.
  double inside_messages = 0;
  /// Number of messages that leave a node in one step of the collective; as many arrive.
  double network_messages = 0;
  /// Number of a node's ranks that send messages to other nodes, each equally many.
  double network_senders = 1;

  [[nodiscard]] double inside_bytes() const { return steps * inside_messages * block_bytes; }
  [[nodiscard]] double network_bytes() const { return steps * network_messages * block_bytes; }
};

/// Placement of a group of ranks on nodes: number of nodes, ranks per node, and equal groups beside
/// it in each node.
struct GroupNodePlacement {
  std::int64_t nodes = 1;
  std::int64_t members = 1;  ///< Number of the group's ranks in each node.
  std::int64_t groups = 1;   ///< Number of groups of this kind that share a node.

  [[nodiscard]] std::int64_t size() const { return nodes * members; }
  bool operator==(const GroupNodePlacement&) const = default;
};

/// Returns how a group of ranks lies on nodes of `devices` devices each; `node_levels`: number of
/// network levels inside a node.
GroupNodePlacement group_node_placement(const cluster::GroupLayout& layout, int node_levels,
                                        std::int64_t devices);

GlooMessageLoads socket_loads(collective::CollectiveOperation collective, double payload_bytes,
                              const GroupNodePlacement& group);

/// Fitted cost of a collective of c10d's Gloo backend while all groups of its kind communicate:
///
///     seconds = start + steps * max(messages inside * block / rate,
///                                   messages outside * block / rate,
///                                   block / rate of the slower link + hop / 2, hop)
///
/// block: bytes of one message; hop: latency of a step's hops, one after the other. A ring sends a
/// block in two parts, so that half of a hop overlaps the other part.
struct GlooCostLaw {
  double start_s = 0;
  double hop_s = 0;          ///< Seconds of latency between two ranks of a node.
  double network_hop_s = 0;  ///< Seconds of latency between two nodes.
  double inside_s_per_byte = 0;
  double network_s_per_byte = 0;
  /// True if each rank has its own NIC; false: the ranks of a node share its NICs.
  bool own_nics = false;

  [[nodiscard]] OperatorTime time(const GlooMessageLoads& loads) const;
};

}  // namespace stepwright::cost
