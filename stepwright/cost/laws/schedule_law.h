#pragma once

#include "stepwright/collective/closed_form.h"
#include "stepwright/cost/laws/socket_law.h"

namespace stepwright::cost {

/// The cost of a collective that runs as a schedule over sockets (`process_group/`) while all
/// sister groups run the same one: a start and the schedule's closed form. The loopback of a node
/// carries the messages of all of its ranks.
struct ScheduleLaw {
  double start_s = 0;        ///< Seconds to start a call.
  double message_s = 0;      ///< Seconds to start each message, at both ends.
  double network_hop_s = 0;  ///< Seconds of a hop from node to node.
  double inside_s_per_byte = 0;
  double network_s_per_byte = 0;
  double chunk_bytes = 0;  ///< Bytes of a block, as the process group cuts it.
  /// True if each rank has a NIC; false: the ranks of a node share its NICs.
  bool own_nics = false;

  /// Returns the time of a full buffer in a group that has ranks on several nodes, and several
  /// ranks on each.
  [[nodiscard]] OperatorTime time(collective::Algorithm method, collective::Collective collective,
                                  double payload_bytes, const SocketGroup& group) const;
};

}  // namespace stepwright::cost
