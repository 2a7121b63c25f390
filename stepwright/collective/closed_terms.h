#pragma once

#include "stepwright/collective/closed_form.h"

namespace stepwright::collective {

/// A message of a block's chunk over one link: seconds that it keeps its ends busy, and latency.
struct ChunkHop {
  double bytes_s = 0;
  double latency_s = 0;
};

/// `stages` hops one after the other, each of C chunks in order: a link is never used twice at a
/// time, and a chunk goes on when it has arrived.
double chunked_chain(double stages, double chunks, const ChunkHop& hop);

inline bool both_ways(Collective collective) { return collective == Collective::kAllReduce; }

/// The terms that all formulas of a spec share.
struct ClosedTerms {
  ClosedTerms(const ScheduleSpec& of, const GroupLinks& links, double payload_bytes)
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

  /// The seconds of a message of `blocks` chunks in place of one.
  [[nodiscard]] double run_s(const ChunkHop& hop, double blocks) const {
    return start_s + blocks * (hop.bytes_s - start_s);
  }

  const ScheduleSpec& spec;  ///< The spec, which outlives the terms.
  double members;
  double nodes;
  double ranks;
  double chunks;
  double passes;  ///< An all-reduce goes twice.
  double payload;
  double block;
  double start_s;  ///< Seconds before a message's bytes flow.
  ChunkHop inside;
  ChunkHop rail;
  ChunkHop lone;
};

/// One chunk of a group's blocks among its members.
double pass_s(const ClosedTerms& t, Inner inner);

/// The latency of a last message inside.
inline double end_latency(const ClosedTerms& t) { return t.members > 1 ? t.inside.latency_s : 0; }

/// A ring over all ranks, of hops `within` nodes and `across`.
double round_s(const ClosedTerms& t, const ChunkHop& within, const ChunkHop& across);

}  // namespace stepwright::collective
