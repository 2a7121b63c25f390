#include "stepwright/collective/definition.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {
namespace {

HierarchicalRingSpec two_level_tiers(const CollectiveScheduleSpec& spec) {
  HierarchicalRingSpec tiered = all_tiers(spec);
  tiered.in_turn = true;
  return tiered;
}

double two_level_s(const CollectiveClosedFormTerms& t) {
  if (t.nodes == 1) return algorithms::kHoRing.seconds(t);
  const double inside =
      t.nodes * t.chunks * intra_node_exchange_s(t, t.spec.inner) + last_intra_node_latency(t);
  return t.passes * inside +
         chain_seconds_of_pipelined_chunks(t.passes * (t.nodes - 1), t.chunks, t.rail);
}

}  // namespace

/// Groups and rails one after the other, for tiers {m, n}: an all-gather goes along the rails
/// (ranks with equal index in their groups), then as n all-gathers inside the group; a
/// reduce-scatter in reverse; an all-reduce inside, along the rails twice, inside (PaRO, arXiv
/// 2310.06003, whose public code does this).
///
/// | operation | sends per rank inside | on its rail |
/// |---|---|---|
/// | all-gather, reduce-scatter | (m-1)/m V | (n-1)/(nm) V |
/// | all-reduce | 2 (m-1)/m V | 2 (n-1)/(nm) V |
///
/// Each level idles while the other works: the time is the sum over levels. Scratch of a reduction:
/// V/m, with inner rings V.
const CollectiveAlgorithmDefinition algorithms::kTwoLevel = {
    .text = "along the rails and inside the nodes in turn",
    .covers = kCollectivesWithBlockPerRank,
    .lies = is_two_level_group,
    .group_requirement_text = kTwoLevelNeeds,
    .is_run_by_own_process_group = true,
    .pattern = MessagePattern::kLevelsInTurn,
    .scratch = scratch_of_tiers<two_level_tiers>,
    .rank = rank_of_tiers<two_level_tiers>,
    .seconds = two_level_s};

}  // namespace stepwright::collective
