#pragma once

#include <cstdint>

#include "stepwright/collective/schedule.h"
#include "stepwright/collective/tiers.h"

namespace stepwright {

/// How the ranks of one group below the outermost tier pass blocks to each other.
enum class Inner : std::uint8_t {
  kDirect,  ///< To each peer: a switch carries that without sharing, with one latency.
  kRing,    ///< To the next one: for meshes and buses in a row.
};

/// The family that rings and their hierarchies belong to: a ring on the outermost
/// tier, `inner` on each tier below, every block in `chunks`.
///
/// With S = V / ranks, and n = size of the outermost tier, lane k carries per rank of an all-gather
/// or a reduce-scatter (size_k - 1) times the product of the sizes above it, times S: for {m, n}
/// (m-1)V/m inside and (n-1)V/(nm) outside, the least that is possible.
struct Tiered {
  Tiers tiers;
  std::int32_t chunks = 1;
  Inner inner = Inner::kDirect;
  /// A tier starts when the one before has finished, instead of chunk by chunk.
  bool in_turn = false;
};

/// Scratch of a rank, in pieces, for a reduction (`kReduceScatter`, `kAllReduce`); 0 for a gather.
std::int32_t tiered_scratch(const Tiered& tiered, Collective collective);

/// The part of `rank` in an all-gather, reduce-scatter or all-reduce.
RankSchedule tiered_rank(const Tiered& tiered, Collective collective, std::int32_t rank);

}  // namespace stepwright
