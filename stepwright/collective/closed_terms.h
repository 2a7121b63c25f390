#pragma once

#include "stepwright/collective/closed_form.h"

namespace stepwright::collective {

/// Cost of sending one chunk over one link: the seconds in which both ends are busy, and the
/// latency after them.
struct MessageChunkSendCost {
  double bytes_s = 0;
  double latency_s = 0;
};

/// Returns the seconds until `chunks` chunks have passed `stages` hops one after the other, as in a
/// pipeline: a link carries one chunk at a time, and a chunk moves on when it has arrived.
double chain_seconds_of_pipelined_chunks(double stages, double chunks,
                                         const MessageChunkSendCost& hop);

inline bool both_ways(CollectiveOperation collective) {
  return collective == CollectiveOperation::kAllReduce;
}

/// Inputs of the formulas for the seconds of a collective, shared by all algorithms: numbers of
/// ranks, buffer sizes, and costs of one chunk on each kind of link.
struct CollectiveClosedFormTerms {
  CollectiveClosedFormTerms(const CollectiveScheduleSpec& of, const GroupLinkRates& links,
                            double payload_bytes)
      : spec(of),
        members(links.members),
        nodes(links.nodes),
        ranks(members * nodes),
        chunks(spec.chunks),
        passes(both_ways(spec.collective) ? 2 : 1),
        payload(payload_bytes),
        block(payload_bytes / ranks),
        start_s(links.message_s),
        inside{start_s + block / chunks * links.inside_s_per_byte, links.inside_latency_s},
        rail{start_s + block / chunks * links.rail_s_per_byte, links.network_latency_s},
        lone{start_s + block / chunks * links.lone_s_per_byte, links.network_latency_s} {}

  /// Returns the seconds in which a message of `blocks` chunks keeps both ends busy. `hop`: cost of
  /// a message of one chunk.
  [[nodiscard]] double chunk_send_busy_s(const MessageChunkSendCost& hop, double blocks) const {
    return start_s + blocks * (hop.bytes_s - start_s);
  }

  /// Parameters of the collective schedule whose seconds are computed; must outlive this object.
  const CollectiveScheduleSpec& spec;
  double members;
  double nodes;
  double ranks;
  double chunks;
  /// How many times all bytes of the buffer pass over the links: 2 for an all-reduce, else 1.
  double passes;
  double payload;
  double block;
  /// Seconds that sender and receiver of a message are busy before its bytes flow.
  double start_s;
  MessageChunkSendCost inside;
  MessageChunkSendCost rail;
  MessageChunkSendCost lone;
};

/// Returns the seconds in which the ranks of a node exchange one chunk of each rank's block.
double intra_node_exchange_s(const CollectiveClosedFormTerms& t, IntraGroupPattern inner);

/// Returns the latency of the last message inside a node; 0 if the group has one rank per node.
inline double last_intra_node_latency(const CollectiveClosedFormTerms& t) {
  return t.members > 1 ? t.inside.latency_s : 0;
}

/// Returns the seconds of one ring over all ranks. `within`, `across`: cost of one chunk between
/// neighbours on the same node and on different nodes.
double flat_ring_seconds(const CollectiveClosedFormTerms& t, const MessageChunkSendCost& within,
                         const MessageChunkSendCost& across);

}  // namespace stepwright::collective
