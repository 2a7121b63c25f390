#pragma once

#include <cstdint>

#include "stepwright/collective/generate.h"
#include "stepwright/collective/tiers.h"

namespace stepwright::collective {

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

/// All ranks of a spec in one ring, and its tiers but those of one rank.
Tiered one_tier(const ScheduleSpec& spec);
Tiered all_tiers(const ScheduleSpec& spec);

/// Scratch of a rank, in pieces, for a reduction (`kReduceScatter`, `kAllReduce`); 0 for a gather.
std::int32_t tiered_scratch(const Tiered& tiered, Collective collective);

/// The part of `rank` in an all-gather, reduce-scatter or all-reduce.
RankSchedule tiered_rank(const Tiered& tiered, Collective collective, std::int32_t rank);

/// Scratch pieces of a spec's tiers, as definitions ask.
template <Tiered (*kTiers)(const ScheduleSpec&)>
std::int32_t scratch_of_tiers(const ScheduleSpec& spec) {
  return tiered_scratch(kTiers(spec), spec.collective);
}
template <Tiered (*kTiers)(const ScheduleSpec&)>
RankSchedule rank_of_tiers(const ScheduleSpec& spec, std::int32_t rank) {
  return tiered_rank(kTiers(spec), spec.collective, rank);
}

}  // namespace stepwright::collective
