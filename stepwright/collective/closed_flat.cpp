#include <algorithm>
#include <cmath>

#include "stepwright/collective/closed_terms.h"

namespace stepwright {

double chunked_chain(double stages, double chunks, const ChunkHop& hop) {
  if (stages <= 0) return 0;
  if (chunks * hop.bytes_s >= hop.bytes_s + hop.latency_s) {
    return stages * chunks * hop.bytes_s + hop.latency_s;
  }
  return stages * (hop.bytes_s + hop.latency_s) + (chunks - 1) * hop.bytes_s;
}

namespace {

/// A ring of hops `within` nodes and `across`.
double round_s(const ClosedTerms& t, const ChunkHop& within, const ChunkHop& across) {
  const double stages = t.passes * (t.ranks - 1);
  if (t.nodes == 1) return chunked_chain(stages, t.chunks, within);
  if (t.members == 1) return chunked_chain(stages, t.chunks, across);
  const ChunkHop& slow = across.bytes_s >= within.bytes_s ? across : within;
  const double paced = stages * t.chunks * slow.bytes_s + slow.latency_s;
  const double rounds = std::floor(stages / t.ranks);
  const double outside = rounds * t.nodes + std::ceil((stages - rounds * t.ranks) / t.members);
  const double chain = outside * (across.bytes_s + across.latency_s) +
                       (stages - outside) * (within.bytes_s + within.latency_s) +
                       (t.chunks - 1) * slow.bytes_s;
  return std::max(paced, chain);
}

}  // namespace

double ring_s(const ClosedTerms& t) { return round_s(t, t.inside, t.lone); }

/// A hop inside has its link to itself while the rings wait for the NICs, and 1/(m-1) of it while
/// they wait for the links inside; what lies between is left out.
double rings_s(const ClosedTerms& t) {
  const double part = 1 / t.members;
  const ChunkHop across{t.run_s(t.rail, part), t.rail.latency_s};
  if (t.nodes == 1) return round_s(t, t.inside, across);
  const ChunkHop alone{t.run_s(t.inside, part), t.inside.latency_s};
  const double shared_s = t.run_s(t.inside, (t.members - 1) * part);
  const double paced = t.passes * (t.ranks - 1) * t.chunks * shared_s + t.inside.latency_s;
  return std::max(round_s(t, alone, across), t.members > 1 ? paced : 0);
}

double direct_s(const ClosedTerms& t) {
  if (t.ranks == 1) return 0;
  const ChunkHop& first = t.members > 1 ? t.inside : t.rail;
  const ChunkHop& last = t.nodes > 1 ? t.rail : t.inside;
  const double once =
      t.chunks * ((t.members - 1) * t.inside.bytes_s + (t.ranks - t.members) * t.rail.bytes_s);
  if (!both_ways(t.spec.collective)) return once + last.latency_s;
  // The first chunk's sum, or the last chunk's, is what the second half waits for.
  const double turned = once - (t.chunks - 1) * last.bytes_s + last.latency_s;
  const double by_first = std::max(once, turned) + once;
  const double by_last = once + last.latency_s + once - (t.chunks - 1) * first.bytes_s;
  return std::max(by_first, by_last) + last.latency_s;
}

double halving_doubling_s(const ClosedTerms& t) {
  double seconds = 0;
  for (std::int32_t bit = 1; bit < t.ranks; bit *= 2) {
    const ChunkHop& hop = bit < t.members ? t.inside : t.rail;
    seconds += t.run_s(hop, bit * t.chunks) + hop.latency_s;
  }
  return t.passes * seconds;
}

namespace {

/// From the root of a binomial tree of `ranks` to its last rank, one chunk of the buffer.
double spread_s(const ClosedTerms& t, std::int32_t ranks) {
  double sent = 0;
  double last = 0;
  std::int32_t bit = 1;
  while (bit * 2 < ranks) bit *= 2;
  for (; bit >= 1 && ranks > 1; bit /= 2) {
    const ChunkHop& hop = bit < t.members ? t.inside : t.lone;
    sent += t.run_s(hop, t.ranks);
    const std::int32_t below = std::min(bit, ranks - bit);
    double inside = 0;
    if (below == bit) {
      for (std::int32_t b = 1; b < bit; b *= 2) {
        const ChunkHop& lower = b < t.members ? t.inside : t.lone;
        inside += t.run_s(lower, t.ranks) + lower.latency_s;
      }
    } else {
      inside = spread_s(t, below);
    }
    last = std::max(last, sent + hop.latency_s + inside);
  }
  return last;
}

}  // namespace

/// The two halves of an all-reduce in chunks share links; here they follow each other.
double tree_s(const ClosedTerms& t) {
  double busy = 0;
  for (std::int32_t bit = 1; bit < t.ranks; bit *= 2) {
    busy += t.run_s(bit < t.members ? t.inside : t.lone, t.ranks);
  }
  return t.passes * (spread_s(t, static_cast<std::int32_t>(t.ranks)) + (t.chunks - 1) * busy);
}

double relay_s(const ClosedTerms& t) {
  const double pass = pass_s(t, Inner::kDirect);
  const double stage = t.chunks * pass;
  const double message = t.chunks == 1 ? t.run_s(t.rail, t.members) : t.members * t.rail.bytes_s;
  const double end = end_latency(t);
  if (t.nodes == 1) return stage + end;
  const double rail = (t.nodes - 1) * t.chunks * message + t.rail.latency_s;
  const double first = std::max(stage, message + t.rail.latency_s);
  return std::max(rail + pass, first + (t.nodes - 1) * stage) + end;
}

}  // namespace stepwright
