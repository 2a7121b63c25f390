#include "stepwright/collective/tiered.h"

#include "stepwright/collective/rank_writer.h"
#include "stepwright/collective/tiered_gather.h"
#include "stepwright/collective/tiered_reduce.h"

namespace stepwright {

std::int32_t tiered_scratch(const Tiered& tiered, Collective collective) {
  return collective == Collective::kAllGather ? 0 : tiered_reduce_scratch(tiered);
}

RankSchedule tiered_rank(const Tiered& tiered, Collective collective, std::int32_t rank) {
  RankWriter writer(tiered.tiers.levels());
  if (collective == Collective::kAllGather) {
    write_tiered_gather(tiered, rank, {}, writer);
  } else if (collective == Collective::kReduceScatter) {
    write_tiered_reduce(tiered, rank, 0, writer);
  } else {
    const std::int32_t own = rank * tiered.chunks;
    write_tiered_gather(tiered, rank, write_tiered_reduce(tiered, rank, own, writer), writer);
  }
  return writer.take();
}

}  // namespace stepwright
