#pragma once

#include <cstdint>

#include "stepwright/collective/generate.h"
#include "stepwright/collective/tiers.h"

namespace stepwright::collective {

/// Rings and their hierarchies: a ring on the outermost tier, `inner` on each tier below, every
/// block in `chunks` chunks.
///
/// With S = V / ranks and n = size of the outermost tier, each rank sends on lane k, in an
/// all-gather or a reduce-scatter, (size_k - 1) times the product of the sizes above it, times S.
/// For {m, n} this is (m-1)V/m inside and (n-1)V/(nm) outside, the minimum.
struct TieredRingSpec {
  Tiers tiers;
  std::int32_t chunks = 1;
  IntraGroupPattern inner = IntraGroupPattern::kDirect;
  /// True if a tier starts when the one before has finished; false: chunk by chunk.
  bool in_turn = false;
};

/// `one_tier` returns all ranks of a spec in one ring; `all_tiers` its tiers without those of one
/// rank.
TieredRingSpec one_tier(const ScheduleSpec& spec);
TieredRingSpec all_tiers(const ScheduleSpec& spec);

/// Scratch pieces of a rank for a reduction (`kReduceScatter`, `kAllReduce`); 0 for a gather.
std::int32_t tiered_scratch(const TieredRingSpec& tiered, Collective collective);

/// Returns the schedule of `rank` in an all-gather, reduce-scatter or all-reduce.
RankSchedule tiered_rank(const TieredRingSpec& tiered, Collective collective, std::int32_t rank);

/// Scratch pieces for the tiers of a spec, in the form that `AlgorithmDefinition::scratch` needs.
template <TieredRingSpec (*kTiers)(const ScheduleSpec&)>
std::int32_t scratch_of_tiers(const ScheduleSpec& spec) {
  return tiered_scratch(kTiers(spec), spec.collective);
}
template <TieredRingSpec (*kTiers)(const ScheduleSpec&)>
RankSchedule rank_of_tiers(const ScheduleSpec& spec, std::int32_t rank) {
  return tiered_rank(kTiers(spec), spec.collective, rank);
}

}  // namespace stepwright::collective
