#include <algorithm>
#include <cmath>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {

double flat_ring_seconds(const CollectiveClosedFormTerms& t, const MessageChunkSendCost& within,
                         const MessageChunkSendCost& across) {
  const double stages = t.passes * (t.ranks - 1);
  if (t.nodes == 1) return chain_seconds_of_pipelined_chunks(stages, t.chunks, within);
  if (t.members == 1) return chain_seconds_of_pipelined_chunks(stages, t.chunks, across);
  const MessageChunkSendCost& slow = across.bytes_s >= within.bytes_s ? across : within;
  const double paced = stages * t.chunks * slow.bytes_s + slow.latency_s;
  const double rounds = std::floor(stages / t.ranks);
  const double outside = rounds * t.nodes + std::ceil((stages - rounds * t.ranks) / t.members);
  const double chain = outside * (across.bytes_s + across.latency_s) +
                       (stages - outside) * (within.bytes_s + within.latency_s) +
                       (t.chunks - 1) * slow.bytes_s;
  return std::max(paced, chain);
}

/// One ring over all ranks; rank r sends to r + 1 only.
///
/// | operation | steps, C chunks | sends per rank |
/// |---|---|---|
/// | all-gather, reduce-scatter | (N-1) C | (N-1)/N V |
/// | all-reduce | 2 (N-1) C | 2 (N-1)/N V |
///
/// The last rank of a node sends all its bytes through one NIC. Chunks hide latency: a hop takes
/// max(S, S/C + latency) instead of S + latency. Scratch of a reduction: 4 S.
const CollectiveAlgorithmDefinition algorithms::kRing = {
    .text = "one ring over all ranks; N-1 steps, (N-1)/N of the buffer",
    .covers = kCollectivesWithBlockPerRank,
    .in_library = kCollectivesWithBlockPerRank,
    .nccl = {"ring", "ring", "allreduce:ring;allgather:ring;reducescatter:ring"},
    .is_run_by_own_process_group = true,
    .pattern = MessagePattern::kRound,
    .one_leaves = true,
    .scratch = scratch_of_tiers<one_ring_over_all_ranks>,
    .rank = rank_of_tiers<one_ring_over_all_ranks>,
    .seconds = [](const CollectiveClosedFormTerms& t) {
      return flat_ring_seconds(t, t.inside, t.lone);
    }};

}  // namespace stepwright::collective
