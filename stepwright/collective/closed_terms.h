#pragma once

#include "stepwright/collective/closed_form.h"

namespace stepwright::collective {

/// A message of one chunk over one link: the seconds that it occupies both ends, and its latency.
struct ChunkHop {
  double bytes_s = 0;
  double latency_s = 0;
};

/// Returns the seconds of `chunks` chunks that pass `stages` hops in order: a link carries one
/// chunk at a time, and a chunk moves on when it has arrived.
double chunked_chain(double stages, double chunks, const ChunkHop& hop);

inline bool both_ways(Collective collective) { return collective == Collective::kAllReduce; }

/// Terms shared by the closed forms of a spec.
struct ClosedFormTerms {
  ClosedFormTerms(const ScheduleSpec& of, const GroupLinks& links, double payload_bytes)
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

  /// Seconds of a message of `blocks` chunks, if `hop` is that of one chunk.
  [[nodiscard]] double run_s(const ChunkHop& hop, double blocks) const {
    return start_s + blocks * (hop.bytes_s - start_s);
  }

  const ScheduleSpec& spec;  ///< The spec, which must outlive the terms.
  double members;
  double nodes;
  double ranks;
  double chunks;
  double passes;  ///< Number of passes over the links: 2 for an all-reduce, else 1.
  double payload;
  double block;
  double start_s;  ///< Seconds before a message's bytes flow.
  ChunkHop inside;
  ChunkHop rail;
  ChunkHop lone;
};

/// Seconds in which one chunk of the group's blocks passes among the members of a node.
double pass_s(const ClosedFormTerms& t, IntraGroupPattern inner);

/// Latency of the last message inside a node; 0 if a node has one member.
inline double end_latency(const ClosedFormTerms& t) {
  return t.members > 1 ? t.inside.latency_s : 0;
}

/// Seconds of a ring over all ranks, with hops `within` nodes and `across` nodes.
double round_s(const ClosedFormTerms& t, const ChunkHop& within, const ChunkHop& across);

}  // namespace stepwright::collective
