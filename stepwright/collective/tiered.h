#pragma once

#include <cstdint>

#include "stepwright/collective/generate.h"
#include "stepwright/collective/tiers.h"

namespace stepwright::collective {

/// A hierarchical ring collective over several levels of ranks: a ring on the outermost level, the
/// exchange `inner` on each level below, every block cut into `chunks` chunks.
///
/// With V bytes in the full buffer, S = V / ranks, and n = size of the outermost level, each rank
/// sends on level k, in an all-gather or a reduce-scatter, (size_k - 1) times the product of the
/// sizes above it, times S. For {m, n} this is (m-1)V/m inside and (n-1)V/(nm) outside, the
/// minimum.
struct HierarchicalRingSpec {
  RankHierarchy tiers;
  std::int32_t chunks = 1;
  IntraGroupPattern inner = IntraGroupPattern::kDirect;
  /// True if the ring on one level (inside nodes, between nodes) starts when that of the previous
  /// level has finished; false: levels overlap, chunk by chunk.
  bool in_turn = false;
};

/// Returns the ring collective whose only level is one ring over all ranks of `spec`; `all_tiers`
/// returns one with the levels of `spec`, without inner levels of one rank.
HierarchicalRingSpec one_ring_over_all_ranks(const CollectiveScheduleSpec& spec);
HierarchicalRingSpec all_tiers(const CollectiveScheduleSpec& spec);

/// Returns the pieces of scratch memory that a rank needs for a reduce-scatter or an all-reduce; 0
/// for an all-gather.
std::int32_t hierarchical_ring_scratch_pieces(const HierarchicalRingSpec& tiered,
                                              CollectiveOperation collective);

/// Generates the schedule of `rank` for a hierarchical all-gather, reduce-scatter or all-reduce.
RankCollectiveSchedule tiered_ring_rank_schedule(const HierarchicalRingSpec& tiered,
                                                 CollectiveOperation collective, std::int32_t rank);

/// Returns the pieces of scratch memory that a rank needs, for
/// `CollectiveAlgorithmDefinition::scratch`. `kTiers`: function that makes the levels of a
/// schedule.
template <HierarchicalRingSpec (*kTiers)(const CollectiveScheduleSpec&)>
std::int32_t scratch_of_tiers(const CollectiveScheduleSpec& spec) {
  return hierarchical_ring_scratch_pieces(kTiers(spec), spec.collective);
}
template <HierarchicalRingSpec (*kTiers)(const CollectiveScheduleSpec&)>
RankCollectiveSchedule rank_of_tiers(const CollectiveScheduleSpec& spec, std::int32_t rank) {
  return tiered_ring_rank_schedule(kTiers(spec), spec.collective, rank);
}

}  // namespace stepwright::collective
