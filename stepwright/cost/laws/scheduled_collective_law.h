#pragma once

#include "stepwright/collective/closed_form.h"
#include "stepwright/cost/laws/gloo_cost_law.h"

namespace stepwright::cost {

/// Fitted cost of a collective that this project's process group runs as an explicit schedule of
/// sends over TCP sockets, while all groups of its kind run one too: a start time plus the
/// schedule's closed form. A node's loopback carries the messages of all its ranks.
struct ScheduledCollectiveLaw {
  double start_s = 0;        ///< Seconds to start a collective call.
  double message_s = 0;      ///< Seconds to start one message, sender and receiver together.
  double network_hop_s = 0;  ///< Seconds of latency between two nodes.
  double inside_s_per_byte = 0;
  double network_s_per_byte = 0;
  double chunk_bytes = 0;  ///< Bytes of the pieces into which the process group cuts a message.
  /// True if each rank has its own NIC; false: the ranks of a node share its NICs.
  bool own_nics = false;

  /// Returns the time of a collective over a buffer of `payload_bytes`; the group must have several
  /// nodes and several ranks on each.
  [[nodiscard]] OperatorTime collective_time_by_schedule(collective::CollectiveAlgorithm method,
                                                         collective::CollectiveOperation collective,
                                                         double payload_bytes,
                                                         const GroupNodePlacement& group) const;
};

}  // namespace stepwright::cost
