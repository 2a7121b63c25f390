#include "stepwright/collective/tiered.h"

#include <utility>
#include <vector>

#include "stepwright/collective/rank_writer.h"
#include "stepwright/collective/tiered_gather.h"
#include "stepwright/collective/tiered_reduce.h"

namespace stepwright::collective {

HierarchicalRingSpec one_ring_over_all_ranks(const CollectiveScheduleSpec& spec) {
  return {.tiers = RankHierarchy({collective_schedule_rank_count(spec)}), .chunks = spec.chunks};
}

HierarchicalRingSpec all_tiers(const CollectiveScheduleSpec& spec) {
  std::vector<std::int32_t> sizes;
  for (std::size_t i = 0; i + 1 < spec.tiers.size(); ++i) {
    if (spec.tiers[i] > 1) sizes.push_back(spec.tiers[i]);
  }
  sizes.push_back(spec.tiers.back());
  return {.tiers = RankHierarchy(std::move(sizes)), .chunks = spec.chunks, .inner = spec.inner};
}

std::int32_t hierarchical_ring_scratch_pieces(const HierarchicalRingSpec& tiered,
                                              CollectiveOperation collective) {
  return collective == CollectiveOperation::kAllGather
             ? 0
             : tiered_reduce_scatter_scratch_pieces(tiered);
}

RankCollectiveSchedule tiered_ring_rank_schedule(const HierarchicalRingSpec& tiered,
                                                 CollectiveOperation collective,
                                                 std::int32_t rank) {
  RankCollectiveScheduleWriter writer(tiered.tiers.levels());
  if (collective == CollectiveOperation::kAllGather) {
    write_tiered_all_gather(tiered, rank, {}, writer);
  } else if (collective == CollectiveOperation::kReduceScatter) {
    write_tiered_reduce_scatter(tiered, rank, 0, writer);
  } else {
    const std::int32_t own = rank * tiered.chunks;
    write_tiered_all_gather(tiered, rank, write_tiered_reduce_scatter(tiered, rank, own, writer),
                            writer);
  }
  return writer.take();
}

}  // namespace stepwright::collective
