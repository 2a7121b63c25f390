#pragma once

#include "stepwright/cluster/layout.h"
#include "stepwright/collective/wire.h"
#include "stepwright/cost/laws/operator_time.h"

namespace stepwright::cost {

/// The loads of one collective of c10d's Gloo when all sister groups send at the same time. Ranks
/// of a node exchange messages over its loopback, one bus for all ranks and both directions.
///
///     all-gather       a ring: g - 1 steps, in each of which every rank sends a block on
///     all-reduce       a ring, twice round
///     reduce-scatter   c10d does an all-reduce and keeps a block
///     all-to-all       one step, in which every rank sends its share to every other
///     send, shift      one step, a message to the next rank
struct SocketLoads {
  double steps = 0;        ///< Number of steps of the collective, which run one after the other.
  double hops = 0;         ///< Messages that a rank sends, over all steps.
  double block_bytes = 0;  ///< Bytes of one message of a step.
  double inside_messages = 0;   ///< Messages over the node's loopback in a step.
  double network_messages = 0;  ///< Messages out of a node in a step; as many come in.
  double network_senders = 1;   ///< Ranks of a node that send these messages, each equally many.

  [[nodiscard]] double inside_bytes() const { return steps * inside_messages * block_bytes; }
  [[nodiscard]] double network_bytes() const { return steps * network_messages * block_bytes; }
};

/// How a group is placed on its nodes.
struct SocketGroup {
  std::int64_t nodes = 1;
  std::int64_t members = 1;  ///< Number of ranks of one group in a node.
  std::int64_t groups = 1;   ///< Number of groups that have members in a node.

  [[nodiscard]] std::int64_t size() const { return nodes * members; }
  bool operator==(const SocketGroup&) const = default;
};

/// Returns the placement of a layout on nodes of `devices` devices.
SocketGroup socket_group(const cluster::GroupLayout& layout, int node_levels, std::int64_t devices);

SocketLoads socket_loads(collective::Collective collective, double payload_bytes,
                         const SocketGroup& group);

/// The cost of a collective of c10d's Gloo. A link carries the messages of all sister groups, and
/// is used while other messages pass through the machine. A ring sends two parts of a block at
/// once, so that half of a hop hides behind the other part:
///
///     seconds = start + steps * max(messages inside * block / rate,
///                                   messages outside * block / rate,
///                                   block / rate of the slower link + hop / 2, hop)
///
/// with the hops of a step one after the other.
struct SocketLaw {
  double start_s = 0;
  double hop_s = 0;          ///< Seconds of a hop inside a node.
  double network_hop_s = 0;  ///< Seconds of a hop between two nodes.
  double inside_s_per_byte = 0;
  double network_s_per_byte = 0;
  /// True if each rank has a NIC; false: the ranks of a node share its NICs.
  bool own_nics = false;

  [[nodiscard]] OperatorTime time(const SocketLoads& loads) const;
};

}  // namespace stepwright::cost
