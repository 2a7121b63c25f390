#include "stepwright/schedule/found/all_turns.h"

#include "stepwright/core/error.h"
#include "stepwright/schedule/found/found.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

std::vector<Turns> schedule_turns_of_positions(const PipelineSchedule& schedule,
                                               std::int64_t positions, std::int64_t micro_batches) {
  if (!traits_of(schedule.kind).found)
    return schedule_turns_of_named_kind(schedule, positions, micro_batches);
  const ModelChunkPlacement placement = model_chunk_placement(schedule, positions);
  if (!fits(schedule.basis, placement)) {
    fail_input("the schedule auto has no order yet: `stepwright tune` and `predict` settle it");
  }
  const AutoScheduleTurns* known = schedule.known.found.get();
  if (known != nullptr && known->micro_batches == micro_batches &&
      std::ssize(known->turns) == positions) {
    return known->turns;
  }
  return find_shortest_schedule_turns(
      pipeline_for_order_search(schedule.basis, placement, micro_batches));
}

}  // namespace stepwright::schedule
